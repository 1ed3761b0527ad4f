//! A small empty ext4 with a journal, as mke2fs would make it: for a machine that has no mke2fs.
//!
//! One block group, so that the whole file system is described by a superblock, one group descriptor, two bitmaps and one
//! table of inodes (the kernel's documentation: filesystems/ext4). No checksums, 32-bit block numbers.
//!
//! ```text
//! block  0 superblock   1 group   2 block bitmap   3 inode bitmap   4.. inodes   68 root folder   69.. journal
//! ```

use std::io::{self, Seek, SeekFrom, Write};

const BLOCK: usize = 4096;
/// What one block's bitmap describes: the most blocks that a group can have.
const BLOCKS_A_GROUP: u32 = 8 * BLOCK as u32;
const INODES: u32 = 1024;
const INODE: usize = 256;
/// The fields of an inode beyond its first 128 bytes.
const EXTRA: u16 = 32;
const FIRST_FREE_INODE: u32 = 11;
const ROOT_INODE: usize = 2;
const JOURNAL_INODE: usize = 8;

const BLOCK_BITMAP: u32 = 2;
const INODE_BITMAP: u32 = 3;
const INODE_TABLE: u32 = 4;
const ROOT: u32 = INODE_TABLE + INODES * INODE as u32 / BLOCK as u32;
const JOURNAL: u32 = ROOT + 1;
/// The fewest that the kernel takes.
const JOURNAL_BLOCKS: u32 = 1024;
const USED: u32 = JOURNAL + JOURNAL_BLOCKS;

const HAS_JOURNAL: u32 = 0x4;
const FILE_TYPES: u32 = 0x2;
const EXTENTS: u32 = 0x40;
const SPARSE_SUPERBLOCKS: u32 = 0x1;
const EXTRA_FIELDS: u32 = 0x40;

/// Writes the file system to a device of so many bytes: 8 to 128 MiB.
pub(super) fn format(device: &mut (impl Write + Seek), bytes: u64) -> io::Result<()> {
    let blocks = u32::try_from(bytes / BLOCK as u64).unwrap_or(u32::MAX);
    if !(2 * USED..=BLOCKS_A_GROUP).contains(&blocks) {
        return Err(io::Error::other(format!(
            "{bytes} bytes are no size for one block group"
        )));
    }
    let mut put = |block: u32, data: &[u8]| {
        device.seek(SeekFrom::Start(u64::from(block) * BLOCK as u64))?;
        device.write_all(data)
    };
    put(0, &first_block(blocks))?;
    put(1, &group(blocks))?;
    put(BLOCK_BITMAP, &bitmap(USED, blocks))?;
    put(INODE_BITMAP, &bitmap(FIRST_FREE_INODE - 1, INODES))?;
    put(INODE_TABLE, &inodes())?;
    put(ROOT, &root_folder())?;
    put(JOURNAL, &journal())
}

/// A buffer whose little-endian fields are set by their offset.
struct Fields(Vec<u8>);

impl Fields {
    fn of(size: usize) -> Fields {
        Fields(vec![0; size])
    }

    fn set16(&mut self, at: usize, value: u16) {
        self.0[at..at + 2].copy_from_slice(&value.to_le_bytes());
    }

    fn set32(&mut self, at: usize, value: u32) {
        self.0[at..at + 4].copy_from_slice(&value.to_le_bytes());
    }
}

/// The superblock, 1024 bytes into its block.
fn first_block(blocks: u32) -> Vec<u8> {
    let mut f = Fields::of(1024);
    f.set32(0, INODES);
    f.set32(4, blocks);
    f.set32(12, blocks - USED);
    f.set32(16, INODES - (FIRST_FREE_INODE - 1));
    // 4096 bytes a block and a cluster: 1024 << 2.
    f.set32(24, 2);
    f.set32(28, 2);
    f.set32(32, BLOCKS_A_GROUP);
    f.set32(36, BLOCKS_A_GROUP);
    f.set32(40, INODES);
    f.set16(54, 0xffff); // mounted as often as one likes
    f.set16(56, 0xef53);
    f.set16(58, 1); // clean
    f.set16(60, 1); // go on after errors
    f.set32(76, 1); // with inodes of any size
    f.set32(84, FIRST_FREE_INODE);
    f.set16(88, INODE as u16);
    f.set32(92, HAS_JOURNAL);
    f.set32(96, FILE_TYPES | EXTENTS);
    f.set32(100, SPARSE_SUPERBLOCKS | EXTRA_FIELDS);
    f.0[104..120].fill(0x77); // the file system's number
    f.set32(224, JOURNAL_INODE as u32);
    f.set16(348, EXTRA);
    f.set16(350, EXTRA);
    [vec![0; 1024], f.0].concat()
}

fn group(blocks: u32) -> Vec<u8> {
    let mut f = Fields::of(32);
    f.set32(0, BLOCK_BITMAP);
    f.set32(4, INODE_BITMAP);
    f.set32(8, INODE_TABLE);
    f.set16(12, (blocks - USED) as u16);
    f.set16(14, (INODES - (FIRST_FREE_INODE - 1)) as u16);
    f.set16(16, 1); // folders
    f.0
}

/// The first `used` bits are set, and those behind `count`, which nothing belongs to.
fn bitmap(used: u32, count: u32) -> Vec<u8> {
    let mut bits = vec![0; BLOCK];
    for bit in (0..used).chain(count..8 * BLOCK as u32) {
        bits[bit as usize / 8] |= 1 << (bit % 8);
    }
    bits
}

fn inodes() -> Vec<u8> {
    let mut table = vec![0; INODES as usize * INODE];
    let mut put = |number: usize, inode: Vec<u8>| table[(number - 1) * INODE..number * INODE].copy_from_slice(&inode);
    put(ROOT_INODE, inode(0o040_755, 2, ROOT, 1));
    put(JOURNAL_INODE, inode(0o100_600, 1, JOURNAL, JOURNAL_BLOCKS));
    table
}

/// An inode whose contents are in one piece.
fn inode(mode: u16, links: u16, first: u32, blocks: u32) -> Vec<u8> {
    let mut f = Fields::of(INODE);
    f.set16(0, mode);
    f.set32(4, blocks * BLOCK as u32);
    f.set16(26, links);
    f.set32(28, blocks * (BLOCK / 512) as u32);
    f.set32(32, 0x8_0000); // extents
    // One extent of up to four.
    f.set16(40, 0xf30a);
    f.set16(42, 1);
    f.set16(44, 4);
    f.set16(56, blocks as u16);
    f.set32(60, first);
    f.set16(128, EXTRA);
    f.0
}

fn root_folder() -> Vec<u8> {
    const FOLDER: u8 = 2;
    let mut f = Fields::of(BLOCK);
    for (at, length, name) in [(0, 12, "."), (12, BLOCK - 12, "..")] {
        f.set32(at, ROOT_INODE as u32);
        f.set16(at + 4, length as u16);
        f.0[at + 6] = name.len() as u8;
        f.0[at + 7] = FOLDER;
        f.0[at + 8..at + 8 + name.len()].copy_from_slice(name.as_bytes());
    }
    f.0
}

/// The superblock of an empty journal, whose fields are big-endian.
fn journal() -> Vec<u8> {
    let mut block = vec![0; BLOCK];
    let mut set = |at: usize, value: u32| block[at..at + 4].copy_from_slice(&value.to_be_bytes());
    set(0, 0xc03b_3998);
    set(4, 4); // a superblock with features
    set(12, BLOCK as u32);
    set(16, JOURNAL_BLOCKS);
    set(20, 1); // the first block of the log
    set(24, 1); // the first sequence
    set(64, 1); // users
    block
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::io::Cursor;

    #[test]
    fn what_is_used_is_counted() {
        let mut device = Cursor::new(Vec::new());
        format(&mut device, 64 << 20).unwrap();
        let image = device.into_inner();
        let bits = |block: u32| -> u32 {
            let at = block as usize * BLOCK;
            image[at..at + BLOCK].iter().map(|byte| byte.count_zeros()).sum()
        };
        let field = |at: usize| u32::from_le_bytes(image[at..at + 4].try_into().unwrap());
        assert_eq!(
            (bits(BLOCK_BITMAP), bits(INODE_BITMAP)),
            (field(1024 + 12), field(1024 + 16))
        );
        assert_eq!(field(1024 + 4), 16_384);
        assert_eq!(&image[JOURNAL as usize * BLOCK..][..4], [0xc0, 0x3b, 0x39, 0x98]);
    }

    /// Where e2fsprogs is installed, as on every Debian with a disk.
    #[test]
    fn e2fsck_finds_no_fault() {
        let path = std::env::temp_dir().join(format!("worstcase-ext4-{}", std::process::id()));
        let mut image = std::fs::File::create(&path).unwrap();
        image.set_len(64 << 20).unwrap();
        format(&mut image, 64 << 20).unwrap();
        let checked = std::process::Command::new("/sbin/e2fsck")
            .arg("-fn")
            .arg(&path)
            .output();
        std::fs::remove_file(&path).unwrap();
        match checked {
            Ok(checked) => assert!(checked.status.success(), "{}", String::from_utf8_lossy(&checked.stdout)),
            Err(e) => eprintln!("(no e2fsck: this test checks nothing here: {e})"),
        }
    }

    #[test]
    fn a_device_of_another_size_is_refused() {
        for bytes in [4 << 20, 256 << 20] {
            assert!(format(&mut Cursor::new(Vec::new()), bytes).is_err());
        }
    }
}
