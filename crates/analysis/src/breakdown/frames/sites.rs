//! The call site of each frame of a call chain: a tree beside [`Stacks`](crate::breakdown::stacks::Stacks), whose frames do
//! not tell from which instruction they were called.

use rustc_hash::FxHashMap;

/// A frame with the places of its callers: a node of [`Sites`].
pub type SiteId = u32;

type SiteNode = (Option<SiteId>, Option<u64>);

/// All of them in a window.
#[derive(Clone, Debug, Default)]
pub struct Sites {
    nodes: Vec<SiteNode>,
    known: FxHashMap<SiteNode, SiteId>,
}

impl Sites {
    /// A frame that an instruction at `called_at` in `caller` called, or that came in between there.
    pub fn push(&mut self, caller: Option<SiteId>, called_at: Option<u64>) -> SiteId {
        *self.known.entry((caller, called_at)).or_insert_with(|| {
            self.nodes.push((caller, called_at));
            self.nodes.len() as SiteId - 1
        })
    }

    /// For the frame and its callers, innermost first: the instruction that called the next frame, if it is known.
    pub fn called_at(&self, id: SiteId) -> impl Iterator<Item = Option<u64>> {
        let node = |id: SiteId| self.nodes[id as usize];
        std::iter::successors(Some(id), move |id| node(*id).0).map(move |id| node(id).1)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn equal_ways_are_one() {
        let mut sites = Sites::default();
        let outer = sites.push(None, None);
        let inner = sites.push(Some(outer), Some(7));
        assert_ne!(sites.push(Some(outer), Some(8)), inner);
        assert_eq!(sites.push(Some(outer), Some(7)), inner);
        assert_eq!(sites.called_at(inner).collect::<Vec<_>>(), [Some(7), None]);
    }
}
