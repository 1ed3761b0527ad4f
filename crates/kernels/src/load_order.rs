//! An order in which every name follows the names that it needs.

use std::collections::BTreeSet;

/// Why there is no order.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum NoOrder {
    /// This name is needed and does not exist.
    Missing(String),
    /// This name needs itself, through others.
    Circle(String),
    /// The order would take more steps than were left.
    TooLong,
}

/// Finds orders; `needs` gives the names that a name needs, `None` if it does not exist.
pub(crate) struct Orders<'a, F> {
    needs: F,
    /// Steps that are left for all orders together, so that asking for many names comes to an end.
    steps: &'a mut usize,
    order: Vec<String>,
    done: BTreeSet<String>,
}

impl<'a, 'n, F: Fn(&str) -> Option<&'n [String]>> Orders<'a, F> {
    /// An empty order.
    pub fn new(needs: F, steps: &'a mut usize) -> Self {
        Orders {
            needs,
            steps,
            order: Vec::new(),
            done: BTreeSet::new(),
        }
    }

    /// Adds `name` after the names that it needs. Without recursion, because chains may be long.
    pub fn add(&mut self, name: &str) -> Result<(), NoOrder> {
        /// A name whose needs are being added, and how many of them are done.
        struct OpenModule {
            name: String,
            seen: usize,
        }
        let mut open = vec![OpenModule {
            name: name.to_string(),
            seen: 0,
        }];
        let mut is_open = BTreeSet::from([name.to_string()]);
        while let Some(last) = open.last_mut() {
            *self.steps = self.steps.checked_sub(1).ok_or(NoOrder::TooLong)?;
            if self.done.contains(&last.name) {
                is_open.remove(&last.name);
                open.pop();
                continue;
            }
            let needed = (self.needs)(&last.name).ok_or_else(|| NoOrder::Missing(last.name.clone()))?;
            match needed.get(last.seen) {
                Some(next) => {
                    last.seen += 1;
                    if !is_open.insert(next.clone()) {
                        return Err(NoOrder::Circle(next.clone()));
                    }
                    open.push(OpenModule {
                        name: next.clone(),
                        seen: 0,
                    });
                }
                None => {
                    self.done.insert(last.name.clone());
                    self.order.push(last.name.clone());
                }
            }
        }
        Ok(())
    }

    /// The added names and those that they need, each once.
    pub fn finish(self) -> Vec<String> {
        self.order
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeMap;

    fn order(needs: &[(&str, &[&str])], asked: &[&str], mut steps: usize) -> Result<Vec<String>, NoOrder> {
        let owned = |names: &[&str]| names.iter().map(|n| n.to_string()).collect::<Vec<_>>();
        let needs: BTreeMap<String, Vec<String>> = needs
            .iter()
            .map(|(name, needed)| (name.to_string(), owned(needed)))
            .collect();
        let mut orders = Orders::new(|name: &str| needs.get(name).map(Vec::as_slice), &mut steps);
        for name in asked {
            orders.add(name)?;
        }
        Ok(orders.finish())
    }

    #[test]
    fn each_once_behind_what_it_needs() {
        let needs: [(&str, &[&str]); 4] = [("a", &["b", "c"]), ("b", &["d"]), ("c", &["d"]), ("d", &[])];
        assert_eq!(order(&needs, &["a", "b"], 100).unwrap(), ["d", "b", "c", "a"]);
        assert_eq!(order(&needs, &["a"], 5), Err(NoOrder::TooLong));
        assert_eq!(order(&needs, &["e"], 100), Err(NoOrder::Missing("e".into())));
        let circles: [&[(&str, &[&str])]; 2] = [&[("a", &["a"])], &[("a", &["b"]), ("b", &["c"]), ("c", &["b"])]];
        for circle in circles {
            assert!(
                matches!(order(circle, &["a"], 100), Err(NoOrder::Circle(_))),
                "{circle:?}"
            );
        }
    }
}
