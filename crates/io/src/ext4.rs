//! An empty ext4 with a journal, as mke2fs would make it: for a machine that has no mke2fs.
//!
//! What describes the groups lies together at the beginning of every sixteenth (`flex_bg`), the journal in the middle. There
//! are no checksums and no copies of the superblock (the kernel's documentation: filesystems/ext4).
//!
//! ```text
//! block 0 superblock   1.. groups   then of sixteen groups: block bitmaps, inode bitmaps, inodes   root folder   ...   journal
//! ```

use std::io::{self, Seek, SeekFrom, Write};

const BLOCK: usize = 4096;
/// What one block's bitmap describes: the most blocks that a group can have.
const BLOCKS_A_GROUP: u32 = 8 * BLOCK as u32;
const INODE: usize = 256;
const INODES_A_BLOCK: u32 = (BLOCK / INODE) as u32;
/// As mke2fs chooses: an inode for each so many bytes.
const BYTES_AN_INODE: u64 = 16_384;
const FEWEST_INODES: u32 = 1_024;
/// The fields of an inode beyond its first 128 bytes.
const EXTRA: u16 = 32;
const FIRST_FREE_INODE: u32 = 11;
const ROOT_INODE: usize = 2;
const JOURNAL_INODE: usize = 8;
const DESCRIPTOR: usize = 32;
/// Groups whose descriptions lie together, as a power of two.
const LOG_FLEX: u32 = 4;
const FLEX: u32 = 1 << LOG_FLEX;

/// The fewest that the kernel takes.
const FEWEST_JOURNAL_BLOCKS: u32 = 1_024;
/// All that one extent can hold.
const MOST_JOURNAL_BLOCKS: u32 = 32_768;
/// The journal takes at most this part of the file system.
const JOURNAL_PART: u32 = 64;

const HAS_JOURNAL: u32 = 0x4;
const SPARSE_SUPERBLOCKS_2: u32 = 0x200;
const FILE_TYPES: u32 = 0x2;
const EXTENTS: u32 = 0x40;
const FLEXIBLE_GROUPS: u32 = 0x200;
const SPARSE_SUPERBLOCKS: u32 = 0x1;
const LARGE_FILES: u32 = 0x2;
const EXTRA_FIELDS: u32 = 0x40;

/// Smallest and largest device, in blocks: 8 MiB to 8 TiB.
const SIZES: std::ops::RangeInclusive<u64> = 2_048..=(1 << 31);

/// Writes the file system to a device of so many bytes that reads as zeroes.
pub fn format(device: &mut (impl Write + Seek), bytes: u64) -> io::Result<()> {
    let plan = Plan::of(bytes).ok_or_else(|| io::Error::other(format!("{bytes} bytes are no size for ext4")))?;
    let mut put = |block: u32, data: &[u8]| {
        device.seek(SeekFrom::Start(u64::from(block) * BLOCK as u64))?;
        device.write_all(data)
    };
    put(0, &plan.first_block())?;
    put(1, &plan.descriptors())?;
    for group in 0..plan.groups() {
        put(plan.block_bitmap(group), &plan.used_blocks(group))?;
        put(plan.inode_bitmap(group), &plan.used_inodes(group))?;
    }
    put(plan.inode_table(0), &plan.first_inodes())?;
    put(plan.root(), &root_folder())?;
    put(plan.journal, &journal(plan.journal_blocks))
}

/// Where everything is.
#[derive(Clone, Copy)]
struct Plan {
    blocks: u32,
    inodes_a_group: u32,
    journal: u32,
    journal_blocks: u32,
}

impl Plan {
    fn of(bytes: u64) -> Option<Plan> {
        let blocks = Some(bytes / BLOCK as u64).filter(|blocks| SIZES.contains(blocks))?;
        let mut blocks = u32::try_from(blocks).ok()?;
        // A last group that holds little more than its own description is left out.
        let rest = blocks % BLOCKS_A_GROUP;
        if blocks > BLOCKS_A_GROUP && rest < BLOCKS_A_GROUP / 8 {
            blocks -= rest;
        }
        let groups = blocks.div_ceil(BLOCKS_A_GROUP);
        let inodes = (u64::from(blocks) * BLOCK as u64 / BYTES_AN_INODE) as u32;
        let inodes = inodes.max(FEWEST_INODES).div_ceil(groups);
        let mut plan = Plan {
            blocks,
            inodes_a_group: inodes.next_multiple_of(8 * INODES_A_BLOCK).min(BLOCKS_A_GROUP),
            journal: 0,
            journal_blocks: (blocks / JOURNAL_PART).clamp(FEWEST_JOURNAL_BLOCKS, MOST_JOURNAL_BLOCKS),
        };
        plan.journal = plan.place_for_journal();
        Some(plan)
    }

    /// Behind the description of the middle's groups.
    fn place_for_journal(&self) -> u32 {
        let middle = self.groups() / 2;
        let begin = middle * BLOCKS_A_GROUP;
        match self.described_at(middle) {
            (at, end) if at >= begin || middle == 0 => end,
            _ => begin,
        }
    }

    fn groups(&self) -> u32 {
        self.blocks.div_ceil(BLOCKS_A_GROUP)
    }

    fn blocks_of(&self, group: u32) -> u32 {
        (self.blocks - group * BLOCKS_A_GROUP).min(BLOCKS_A_GROUP)
    }

    fn table_blocks(&self) -> u32 {
        self.inodes_a_group / INODES_A_BLOCK
    }

    fn descriptor_blocks(&self) -> u32 {
        (self.groups() * DESCRIPTOR as u32).div_ceil(BLOCK as u32)
    }

    /// The first group of those that are described with this one, and how many they are.
    fn flex(&self, group: u32) -> (u32, u32) {
        let first = group / FLEX * FLEX;
        (first, (self.groups() - first).min(FLEX))
    }

    fn described_from(&self, group: u32) -> u32 {
        let (first, _) = self.flex(group);
        match first {
            0 => 1 + self.descriptor_blocks(),
            _ => first * BLOCKS_A_GROUP,
        }
    }

    /// The blocks that describe this group and its neighbours; in the first, up to the root folder.
    fn described_at(&self, group: u32) -> (u32, u32) {
        let (first, count) = self.flex(group);
        let from = self.described_from(group);
        let end = from + count * (2 + self.table_blocks());
        (from, if first == 0 { end + 1 } else { end })
    }

    fn block_bitmap(&self, group: u32) -> u32 {
        self.described_from(group) + group % FLEX
    }

    fn inode_bitmap(&self, group: u32) -> u32 {
        let (_, count) = self.flex(group);
        self.block_bitmap(group) + count
    }

    fn inode_table(&self, group: u32) -> u32 {
        let (_, count) = self.flex(group);
        self.described_from(group) + 2 * count + group % FLEX * self.table_blocks()
    }

    fn root(&self) -> u32 {
        self.described_at(0).1 - 1
    }

    /// Whether the file system itself has a block in use.
    fn is_used(&self, block: u32) -> bool {
        let (from, end) = self.described_at(block / BLOCKS_A_GROUP);
        block <= self.descriptor_blocks()
            || (from..end).contains(&block)
            || (self.journal..self.journal + self.journal_blocks).contains(&block)
    }

    fn used_blocks(&self, group: u32) -> Vec<u8> {
        let (first, count) = (group * BLOCKS_A_GROUP, self.blocks_of(group));
        bitmap(|bit| bit >= count || self.is_used(first + bit))
    }

    /// Those before the first free one are the file system's own.
    fn used_inodes(&self, group: u32) -> Vec<u8> {
        bitmap(|bit| bit >= self.inodes_a_group || group == 0 && bit < FIRST_FREE_INODE - 1)
    }

    fn free_blocks(&self, group: u32) -> u32 {
        self.used_blocks(group).iter().map(|byte| byte.count_zeros()).sum()
    }

    fn free_inodes(&self, group: u32) -> u32 {
        self.inodes_a_group - if group == 0 { FIRST_FREE_INODE - 1 } else { 0 }
    }

    /// The superblock, 1024 bytes into its block.
    fn first_block(&self) -> Vec<u8> {
        let groups = self.groups();
        let sum = |of: fn(&Plan, u32) -> u32| (0..groups).map(|group| of(self, group)).sum();
        let mut f = Fields::of(1024);
        f.set32(0, groups * self.inodes_a_group);
        f.set32(4, self.blocks);
        f.set32(12, sum(Plan::free_blocks));
        f.set32(16, sum(Plan::free_inodes));
        // 4096 bytes a block and a cluster: 1024 << 2.
        f.set32(24, 2);
        f.set32(28, 2);
        f.set32(32, BLOCKS_A_GROUP);
        f.set32(36, BLOCKS_A_GROUP);
        f.set32(40, self.inodes_a_group);
        f.set16(54, 0xffff); // mounted as often as one likes
        f.set16(56, 0xef53);
        f.set16(58, 1); // clean
        f.set16(60, 1); // go on after errors
        f.set32(76, 1); // with inodes of any size
        f.set32(84, FIRST_FREE_INODE);
        f.set16(88, INODE as u16);
        f.set32(92, HAS_JOURNAL | SPARSE_SUPERBLOCKS_2);
        f.set32(96, FILE_TYPES | EXTENTS | FLEXIBLE_GROUPS);
        f.set32(100, SPARSE_SUPERBLOCKS | LARGE_FILES | EXTRA_FIELDS);
        f.0[104..120].fill(0x77); // the file system's number
        f.set32(224, JOURNAL_INODE as u32);
        f.set16(348, EXTRA);
        f.set16(350, EXTRA);
        f.0[372] = LOG_FLEX as u8;
        [vec![0; 1024], f.0].concat()
    }

    fn descriptors(&self) -> Vec<u8> {
        let describe = |group| {
            let mut f = Fields::of(DESCRIPTOR);
            f.set32(0, self.block_bitmap(group));
            f.set32(4, self.inode_bitmap(group));
            f.set32(8, self.inode_table(group));
            f.set16(12, self.free_blocks(group) as u16);
            f.set16(14, self.free_inodes(group) as u16);
            f.set16(16, u16::from(group == 0)); // folders
            f.0
        };
        (0..self.groups()).flat_map(describe).collect()
    }

    fn first_inodes(&self) -> Vec<u8> {
        let mut table = vec![0; BLOCK];
        let mut put =
            |number: usize, inode: Vec<u8>| table[(number - 1) * INODE..number * INODE].copy_from_slice(&inode);
        put(ROOT_INODE, inode(0o040_755, 2, self.root(), 1));
        put(JOURNAL_INODE, inode(0o100_600, 1, self.journal, self.journal_blocks));
        table
    }
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

fn bitmap(is_set: impl Fn(u32) -> bool) -> Vec<u8> {
    let mut bits = vec![0; BLOCK];
    for bit in (0..BLOCKS_A_GROUP).filter(|bit| is_set(*bit)) {
        bits[bit as usize / 8] |= 1 << (bit % 8);
    }
    bits
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
fn journal(blocks: u32) -> Vec<u8> {
    let mut block = vec![0; BLOCK];
    let mut set = |at: usize, value: u32| block[at..at + 4].copy_from_slice(&value.to_be_bytes());
    set(0, 0xc03b_3998);
    set(4, 4); // a superblock with features
    set(12, BLOCK as u32);
    set(16, blocks);
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
        let plan = Plan::of(64 << 20).unwrap();
        let bits = |block: u32| -> u32 {
            let at = block as usize * BLOCK;
            image[at..at + BLOCK].iter().map(|byte| byte.count_zeros()).sum()
        };
        let field = |at: usize| u32::from_le_bytes(image[at..at + 4].try_into().unwrap());
        assert_eq!(
            (bits(plan.block_bitmap(0)), bits(plan.inode_bitmap(0))),
            (field(1024 + 12), field(1024 + 16))
        );
        assert_eq!(field(1024 + 4), 16_384);
        assert_eq!(&image[plan.journal as usize * BLOCK..][..4], [0xc0, 0x3b, 0x39, 0x98]);
    }

    /// Where e2fsprogs is installed, as on every Debian with a disk.
    #[test]
    fn e2fsck_finds_no_fault() {
        for bytes in [
            8_u64 << 20,
            64 << 20,
            200 << 20,
            1 << 30,
            (3 << 30) + (5 << 20),
            35 << 30,
        ] {
            let path = std::env::temp_dir().join(format!("worstcase-ext4-{}-{bytes}", std::process::id()));
            let mut image = std::fs::File::create(&path).unwrap();
            image.set_len(bytes).unwrap();
            format(&mut image, bytes).unwrap();
            let checked = std::process::Command::new("/sbin/e2fsck")
                .arg("-fn")
                .arg(&path)
                .output();
            std::fs::remove_file(&path).unwrap();
            match checked {
                Ok(checked) => assert!(
                    checked.status.success(),
                    "{bytes}: {}",
                    String::from_utf8_lossy(&checked.stdout)
                ),
                Err(e) => worstcase_skips::skip!(format!("no e2fsck: {e}"), "e2fsprogs"),
            }
        }
    }

    #[test]
    fn a_device_of_another_size_is_refused() {
        for bytes in [4_u64 << 20, 1 << 44] {
            assert!(format(&mut Cursor::new(Vec::new()), bytes).is_err());
        }
    }
}
