//! Probes by their names, for tests. What a test of this crate names is another type than the contract's, as if on another
//! machine: its parameters arrive as in an order, where its number in the list of all probes stands before them.

use serde::de::DeserializeOwned;

pub fn named<P: DeserializeOwned>(text: &str) -> P {
    let bench = worstcase_contract::names::parse(text).expect(text);
    let sent = postcard::to_stdvec(&bench).expect("plain values");
    postcard::from_bytes(&sent[1..]).expect("the same type")
}

pub(crate) fn all_named(text: &str) -> Vec<String> {
    let all = worstcase_contract::names::expand(text).expect(text);
    all.iter().map(ToString::to_string).collect()
}
