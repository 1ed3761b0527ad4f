//! A small program with debug information, made by the system's C compiler.

use std::path::{Path, PathBuf};
use std::process::Command;

/// Line 6 calls `__schedule`, in line 3 is the division of `inlined`.
const CODE: &str = "\
static inline __attribute__((always_inline)) int inlined(int a, int b)
{
	return a / b;
}
int work(int a, int b) {
	return inlined(a, b) + 1;
}
int __schedule(int a) {
	return a * 5;
}
void _start(void) {
	work(3, 4);
	__schedule(5);
}
";

/// A program with DWARF.
pub(crate) struct TestProgram {
    pub(crate) folder: tempfile::TempDir,
    pub(crate) file: PathBuf,
}

/// Compiles it in `kernel/sched/core.c` of a folder of its own.
pub(crate) fn program(flags: &[&str]) -> TestProgram {
    let folder = tempfile::tempdir().unwrap();
    let source = folder.path().join("kernel/sched/core.c");
    std::fs::create_dir_all(source.parent().unwrap()).unwrap();
    std::fs::write(&source, CODE).unwrap();
    let file = folder.path().join("vmlinux");
    let mut compiler = Command::new("cc");
    compiler.args([
        "-g",
        "-O1",
        "-fno-ipa-cp",
        "-fno-inline-functions-called-once",
        "-fno-pie",
        "-no-pie",
    ]);
    compiler.args(["-nostdlib", "-nostartfiles", "-static", "-Wl,--build-id=sha1"]);
    compiler.args(flags).arg("-o").arg(&file).arg(&source);
    let done = compiler.current_dir(folder.path()).output().unwrap();
    assert!(done.status.success(), "{}", String::from_utf8_lossy(&done.stderr));
    TestProgram { folder, file }
}

/// Two functions in sections of their own; where they are in them, no two functions agree.
const MODULE: &str = "\
int first(int a) {
	return a * 5;
}
int second(int a)
{
	return a / 3;
}
__attribute__((section(\".text.unlikely\"))) int rare(int a) {
	return a / 7;
}
__attribute__((section(\".init.text\"))) int once(int a) {
	return a * 9;
}
";

/// Compiles the sources to an object, as a kernel module is, in `driver/m.c` of a folder of its own.
pub(crate) fn module(flags: &[&str]) -> TestProgram {
    let folder = tempfile::tempdir().unwrap();
    let source = folder.path().join("driver/m.c");
    std::fs::create_dir_all(source.parent().unwrap()).unwrap();
    std::fs::write(&source, MODULE).unwrap();
    let file = folder.path().join("m.ko");
    let mut compiler = Command::new("cc");
    compiler.args(["-g", "-O1", "-fno-pie", "-c"]).args(flags);
    let done = compiler.arg("-o").arg(&file).arg(&source).output().unwrap();
    assert!(done.status.success(), "{}", String::from_utf8_lossy(&done.stderr));
    TestProgram { folder, file }
}

/// The address of a function, and its size.
pub(crate) fn function(file: &Path, name: &str) -> (u64, u64) {
    use object::read::{Object, ObjectSymbol};
    let data = std::fs::read(file).unwrap();
    let elf = object::File::parse(&*data).unwrap();
    let symbol = elf.symbols().find(|s| s.name() == Ok(name)).unwrap();
    (symbol.address(), symbol.size())
}
