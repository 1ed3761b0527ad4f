//! System V shared memory that a process left behind: found in /proc/sysvipc/shm, removed with shmctl.

use std::collections::BTreeSet;
use std::fs;
use std::io;
use worstcase_instruments::sys::process::Pid;

/// A segment, as the kernel lists it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct ListedSegment {
    id: i32,
    creator: Pid,
    attached: u64,
    /// The user id of its creator.
    maker: u32,
    /// When it was made, in seconds since 1970; the list shows times before 1970 without their sign.
    changed: i64,
}

/// Removes unused segments that `creators` (ended processes of `users`) made since `since` (seconds since 1970).
pub(super) fn remove_of(creators: &[Pid], users: &BTreeSet<u32>, since: i64) -> io::Result<()> {
    // Without this file the kernel has no System V shared memory.
    let table = fs::read_to_string("/proc/sysvipc/shm").unwrap_or_default();
    let left = table
        .lines()
        .filter_map(parse)
        .filter(|segment| segment.attached == 0 && segment.changed >= since)
        .filter(|segment| creators.contains(&segment.creator) && users.contains(&segment.maker));
    left.map(|segment| remove(segment.id)).fold(Ok(()), Result::and)
}

/// One row: key, id, mode, size, creator, last user, attached, four owners, three times, resident, swapped.
fn parse(row: &str) -> Option<ListedSegment> {
    let fields: Vec<&str> = row.split_ascii_whitespace().collect();
    Some(ListedSegment {
        id: fields.get(1)?.parse().ok()?,
        creator: fields.get(4)?.parse().ok()?,
        attached: fields.get(6)?.parse().ok()?,
        maker: fields.get(9)?.parse().ok()?,
        changed: fields.get(13)?.parse::<u64>().ok()?.cast_signed(),
    })
}

fn remove(id: i32) -> io::Result<()> {
    // SAFETY: IPC_RMID takes no buffer.
    if unsafe { libc::shmctl(id, libc::IPC_RMID, core::ptr::null_mut()) } == 0 {
        return Ok(());
    }
    match io::Error::last_os_error() {
        gone if matches!(gone.raw_os_error(), Some(libc::EINVAL | libc::EIDRM)) => Ok(()),
        e => Err(e),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rows_of_the_list_are_read_and_its_heading_is_not() {
        let heading = "       key      shmid perms       size  cpid  lpid nattch   uid   gid  cuid  cgid      atime      dtime      ctime        rss       swap";
        let row = "         0      32771   600   16777216   811   811      0  1001  1002  1003  1004 1700000000          0 1700000001          0          0";
        assert_eq!(parse(heading), None);
        let expected = ListedSegment {
            id: 32771,
            creator: 811,
            attached: 0,
            maker: 1003,
            changed: 1_700_000_001,
        };
        assert_eq!(parse(row), Some(expected));
        // Made in 1901: the kernel prints the seconds as an unsigned number.
        let row = row.replace("1700000001", "18446744071562068000");
        let changed = -2_147_483_616;
        assert_eq!(parse(&row), Some(ListedSegment { changed, ..expected }));
    }
}
