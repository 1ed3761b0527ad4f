//! Probes by their names, for tests. What a test of this crate names is another type than the contract's, as if on another
//! machine: it arrives as in an order.

use super::Bench;

pub fn named(text: &str) -> Bench {
    let bench = worstcase_contract::names::parse(text).expect(text);
    let sent = postcard::to_stdvec(&bench).expect("plain values");
    postcard::from_bytes(&sent).expect("the same type")
}

pub fn all_named(text: &str) -> Vec<Bench> {
    let all = worstcase_contract::names::expand(text).expect(text);
    all.iter().map(|bench| named(&bench.to_string())).collect()
}
