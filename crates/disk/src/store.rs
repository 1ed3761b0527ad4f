//! What a disk holds: blocks that were never written, hold one repeated word or equal another block cost next to nothing.

use std::collections::HashMap;
use std::hash::{BuildHasherDefault, Hasher};
use std::io::{self, Seek, SeekFrom, Write};

/// What is kept, and compared, as one piece.
pub const BLOCK: usize = 4096;
/// Of so many bytes the first eight are hashed.
const HASHED: usize = 32;
const SPREAD: u64 = 0x9e37_79b9_7f4a_7c15;
/// Blocks of a leaf: 1 MiB.
const LEAF: usize = 256;

/// Content of a block: its place among the contents.
type Id = u32;
const ZEROES: Id = 0;

/// The contents of a disk.
#[derive(Default)]
pub struct Store {
    leaves: HashMap<u64, Leaf, BuildHasherDefault<Spread>>,
    contents: Vec<Content>,
    /// Contents that nobody has any more.
    unused: Vec<Id>,
    by_hash: HashMap<u64, Vec<Id>, BuildHasherDefault<Spread>>,
    /// Where [`Write`] writes next.
    at: u64,
}

enum Leaf {
    /// All blocks have one content.
    Uniform(Id),
    Each(Box<[Id; LEAF]>),
}

struct Content {
    data: Data,
    hash: u64,
    users: u32,
}

enum Data {
    Repeated(u64),
    Block(Box<[u8; BLOCK]>),
}

/// Keys are spread already, or are counted up.
#[derive(Default)]
struct Spread(u64);

impl Hasher for Spread {
    fn finish(&self) -> u64 {
        self.0
    }

    fn write(&mut self, bytes: &[u8]) {
        bytes.iter().for_each(|byte| self.write_u64(u64::from(*byte)));
    }

    fn write_u64(&mut self, word: u64) {
        self.0 = (self.0 ^ word).wrapping_mul(SPREAD).rotate_left(29);
    }
}

impl Store {
    /// Reads from byte `at` on.
    pub fn read(&self, at: u64, buffer: &mut [u8]) {
        for_each_block(at, buffer.len(), |block, within, range| {
            let into = &mut buffer[range];
            match self.content(block).map(|content| &content.data) {
                None => into.fill(0),
                Some(Data::Repeated(word)) => {
                    let bytes = word.to_le_bytes();
                    let from = within % bytes.len();
                    into.iter_mut()
                        .zip(bytes.iter().cycle().skip(from))
                        .for_each(|(to, byte)| *to = *byte);
                }
                Some(Data::Block(data)) => into.copy_from_slice(&data[within..within + into.len()]),
            }
        });
    }

    /// Writes from byte `at` on.
    pub fn write(&mut self, at: u64, bytes: &[u8]) {
        for_each_block(at, bytes.len(), |block, within, range| {
            let from = &bytes[range];
            match <&[u8; BLOCK]>::try_from(from) {
                Ok(whole) => self.put(block, whole),
                Err(_) => {
                    let mut whole = [0; BLOCK];
                    self.read(block * BLOCK as u64, &mut whole);
                    whole[within..within + from.len()].copy_from_slice(from);
                    self.put(block, &whole);
                }
            }
        });
    }

    /// Distinct contents that are kept as they are: what the disk costs in memory is little more than these blocks.
    #[cfg(test)]
    fn kept_blocks(&self) -> usize {
        let is_kept = |content: &&Content| content.users > 0 && matches!(content.data, Data::Block(_));
        self.contents.iter().filter(is_kept).count()
    }

    fn content(&self, block: u64) -> Option<&Content> {
        let id = match self.leaves.get(&(block / LEAF as u64))? {
            Leaf::Uniform(id) => *id,
            Leaf::Each(ids) => ids[(block % LEAF as u64) as usize],
        };
        (id != ZEROES).then(|| &self.contents[id as usize - 1])
    }

    fn put(&mut self, block: u64, data: &[u8; BLOCK]) {
        let new = self.intern(data);
        let (leaf, within) = (block / LEAF as u64, (block % LEAF as u64) as usize);
        let leaf = self.leaves.entry(leaf).or_insert(Leaf::Uniform(ZEROES));
        let old = match leaf {
            Leaf::Uniform(id) if *id == new => new,
            Leaf::Uniform(id) => {
                let old = *id;
                let mut ids = Box::new([old; LEAF]);
                ids[within] = new;
                *leaf = Leaf::Each(ids);
                old
            }
            Leaf::Each(ids) => {
                let old = std::mem::replace(&mut ids[within], new);
                if within + 1 == LEAF && ids.iter().all(|id| *id == new) {
                    *leaf = Leaf::Uniform(new);
                }
                old
            }
        };
        self.forget(old);
    }

    /// The content's number, with one user more.
    fn intern(&mut self, data: &[u8; BLOCK]) -> Id {
        let (hash, repeated) = look_at(data);
        if repeated == Some(0) {
            return ZEROES;
        }
        let ids = self.by_hash.entry(hash).or_default();
        let contents = &mut self.contents;
        let is_it = |id: &&Id| match (&contents[**id as usize - 1].data, repeated) {
            (Data::Repeated(word), Some(other)) => *word == other,
            (Data::Block(kept), None) => kept.as_slice() == data.as_slice(),
            _ => false,
        };
        if let Some(id) = ids.iter().find(is_it).copied() {
            contents[id as usize - 1].users += 1;
            return id;
        }
        let content = Content {
            data: repeated.map_or_else(|| Data::Block(Box::new(*data)), Data::Repeated),
            hash,
            users: 1,
        };
        let id = match self.unused.pop() {
            Some(id) => {
                contents[id as usize - 1] = content;
                id
            }
            None => {
                contents.push(content);
                contents.len() as Id
            }
        };
        ids.push(id);
        id
    }

    /// One user less.
    fn forget(&mut self, id: Id) {
        if id == ZEROES {
            return;
        }
        let content = &mut self.contents[id as usize - 1];
        content.users -= 1;
        if content.users > 0 {
            return;
        }
        content.data = Data::Repeated(0);
        let hash = content.hash;
        self.unused.push(id);
        if let Some(ids) = self.by_hash.get_mut(&hash) {
            ids.retain(|other| *other != id);
            if ids.is_empty() {
                self.by_hash.remove(&hash);
            }
        }
    }
}

/// A number that tells contents apart mostly, of every fourth word, and the word that fills the block, if one does.
fn look_at(data: &[u8; BLOCK]) -> (u64, Option<u64>) {
    let first = data.first_chunk().map_or(0, |word| u64::from_le_bytes(*word));
    if data[..BLOCK - 8] == data[8..] {
        return (first.wrapping_mul(SPREAD), Some(first));
    }
    let mut hash = Spread(first);
    data.chunks_exact(HASHED)
        .filter_map(|part| part.first_chunk())
        .for_each(|word| hash.write_u64(u64::from_le_bytes(*word)));
    (hash.finish(), None)
}

/// The blocks from byte `at` on: each with where to begin in it, and its part of the `length` bytes.
fn for_each_block(at: u64, length: usize, mut with: impl FnMut(u64, usize, std::ops::Range<usize>)) {
    let mut done = 0;
    while done < length {
        let (block, within) = ((at + done as u64) / BLOCK as u64, (at + done as u64) % BLOCK as u64);
        let here = (BLOCK - within as usize).min(length - done);
        with(block, within as usize, done..done + here);
        done += here;
    }
}

impl Write for Store {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        Store::write(self, self.at, bytes);
        self.at += bytes.len() as u64;
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

impl Seek for Store {
    fn seek(&mut self, to: SeekFrom) -> io::Result<u64> {
        match to {
            SeekFrom::Start(at) => self.at = at,
            SeekFrom::Current(by) => self.at = self.at.checked_add_signed(by).ok_or(io::ErrorKind::InvalidInput)?,
            SeekFrom::End(_) => return Err(io::ErrorKind::Unsupported.into()),
        }
        Ok(self.at)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn noise(seed: u64, length: usize) -> Vec<u8> {
        let mut spread = Spread(seed);
        let mut next = || {
            spread.write_u64(seed);
            spread.finish() as u8
        };
        (0..length).map(|_| next()).collect()
    }

    #[test]
    fn what_was_written_is_read() {
        let mut store = Store::default();
        let mut plain = vec![0; 64 * BLOCK];
        for step in 0..400_u64 {
            let at = (step * 7919 % (60 * BLOCK as u64)) as usize;
            let data = match step % 3 {
                0 => vec![step as u8; 5000],
                1 => noise(step, 3 * BLOCK),
                _ => vec![0; 100],
            };
            store.write(at as u64, &data);
            plain[at..at + data.len()].copy_from_slice(&data);
        }
        let mut read = vec![1; plain.len()];
        store.read(0, &mut read);
        assert!(read == plain);
        let mut part = [0; 777];
        store.read(4001, &mut part);
        assert!(part == plain[4001..4778]);
    }

    #[test]
    fn repeated_content_costs_nothing() {
        let mut store = Store::default();
        let piece = noise(1, 1 << 20);
        for at in 0..64_u64 {
            store.write(at << 20, &piece);
            store.write((1 << 40) + (at << 20), &[0x5a; 1 << 20]);
        }
        assert_eq!(store.kept_blocks(), LEAF);
        let uniform = store.leaves.values().filter(|leaf| matches!(leaf, Leaf::Uniform(_)));
        assert_eq!(uniform.count(), 64);
    }

    #[test]
    fn what_is_written_over_is_forgotten() {
        let mut store = Store::default();
        for round in 0..50 {
            store.write(0, &noise(round, 4 * BLOCK));
        }
        assert_eq!((store.kept_blocks(), store.contents.len()), (4, 5));
        store.write(0, &[0; 4 * BLOCK]);
        assert_eq!((store.kept_blocks(), store.by_hash.len()), (0, 0));
    }
}
