//! A subject with everything that its machine is made of, and the key that tells whether two are equal.

use super::LabError;
use super::board::{self, Board, RecordDevice};
use super::image;
use super::invocation::RECORD;
use super::machine;
use super::qemu::{Qemu, Qemus};
use super::subject::LabSubject;
use worstcase_base::digest::Digest;
use worstcase_results::record::{LoadedModule, Record, SubjectMachine};

/// A subject with all inputs of its snapshot.
pub struct Prepared {
    /// The subject.
    pub subject: LabSubject,
    /// The QEMU that runs it.
    pub qemu: Qemu,
    /// The kernel's command line.
    pub command_line: String,
    /// The initramfs.
    pub initrd: Vec<u8>,
    /// Digest of all inputs; two subjects with the same key are equal to the byte.
    pub key: String,
}

impl Prepared {
    /// Builds the image and computes the key.
    pub fn of(subject: LabSubject, qemus: &Qemus) -> Result<Prepared, LabError> {
        let qemu = qemus.of(subject.machine.arch())?;
        let initrd = image::build(&subject)?;
        Ok(Prepared::with_image(subject, initrd, &qemu))
    }

    /// Like [`Prepared::of`], with an image that was built before.
    pub(super) fn with_image(subject: LabSubject, initrd: Vec<u8>, qemu: &Qemu) -> Prepared {
        let board = Board::of(subject.machine.arch());
        let mut command_line = board.command_line();
        let append = Some(subject.machine.append.to_string()).filter(|words| !words.is_empty());
        for words in [subject.preempt.boot_argument(), append].into_iter().flatten() {
            command_line += &format!(" {words}");
        }
        let mut digest = Digest::new("worstcase-subject/4");
        digest.text(&qemu.digest).bytes(qemu.plugin);
        digest.text(&subject.kernel.digest).bytes(&initrd).text(&command_line);
        for argument in machine::shape(&subject.machine, subject.mips) {
            digest.text(&argument);
        }
        if let RecordDevice::Memory(_) = board.record {
            for word in board::record_device(&subject.machine, RECORD).iter().flatten() {
                digest.text(word);
            }
        }
        if subject.machine.smp.cpus > 1 {
            digest.text(&subject.machine.smp.quantum.0.to_string());
        }
        let disks = machine::disk_arguments(&subject.machine);
        if !disks.is_empty() {
            digest.text(&disks);
        }
        if let Some(disk) = &subject.disk {
            digest.text(disk);
        }
        Prepared {
            key: digest.hex(),
            subject,
            qemu: qemu.clone(),
            command_line,
            initrd,
        }
    }

    fn scheduler_digest(&self) -> Option<&str> {
        self.subject.scheduler.as_ref().map(|s| s.digest.as_str())
    }

    /// How the machine differs from the recorded subject of the same name; none if both are equal to the byte.
    pub fn changed_since(&self, record: &Record) -> Option<String> {
        let SubjectMachine::Lab(machine) = &record.subject.machine else {
            return Some("it was not measured in the lab".into());
        };
        if self.key == machine.key {
            return None;
        }
        Some(match () {
            () if self.qemu.version != machine.qemu => {
                format!("it was measured with {}, here is {}", machine.qemu, self.qemu.version)
            }
            () if self.subject.kernel.digest != record.subject.kernel.digest => {
                format!("{} is another kernel now", record.subject.kernel.name)
            }
            () if self.subject.modules() != machine.modules => format!(
                "it was measured {}, here it would be {}",
                with(&machine.modules),
                with(&self.subject.modules())
            ),
            () if self.scheduler_digest() != record.scheduler.as_ref().map(|s| s.digest.as_str()) => {
                "the scheduler is another file now".into()
            }
            () => "QEMU's files, worstcase itself or an added program (--add) changed".into(),
        })
    }
}

/// Modules in words: `with planted work=spin (sha256:ab12...)`.
fn with(modules: &[LoadedModule]) -> String {
    match modules {
        [] => "without a module (--module)".into(),
        some => {
            let some: Vec<String> = some.iter().map(ToString::to_string).collect();
            format!("with {}", some.join(", "))
        }
    }
}
