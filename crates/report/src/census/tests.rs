use super::{json, several, terminal};
use crate::style::Style;
use crate::table::testing::assert_in_every_form;
use worstcase_analysis::breakdown::spans::FunctionShare;
use worstcase_analysis::breakdown::stacks::{FrameKind, StackFrame};
use worstcase_analysis::census::diff::diff;
use worstcase_analysis::census::ensemble::ensembles;
use worstcase_analysis::census::findings::{Findings, findings};
use worstcase_analysis::census::testing::{A, B, length, moment, owned, section, site, taken};
use worstcase_analysis::census::top::{TopList, list};
use worstcase_contract::Nanos;
use worstcase_contract::census::Kind;

fn frame(function: &str) -> StackFrame {
    StackFrame {
        function: function.into(),
        module: None,
        kind: FrameKind::Function,
        source: None,
    }
}

/// A cell whose longest section takes this many instructions.
fn found(longest: u64, seed: u64, owner: &str) -> Findings {
    let mut taken = taken();
    taken.about.seed = seed;
    taken.about.cell = format!("6.1.full.shm.wakeup.s{seed}");
    taken.census.sections = vec![
        section(Kind::NonPreemptible, 10_000, longest),
        section(Kind::NonPreemptible, 900_000, 4_000),
    ];
    taken.census.sites = vec![
        site(Kind::NonPreemptible, A, B, 2, longest + 4_000, longest, longest - 500),
        site(Kind::InterruptsOff, A, A, 1_000_000, 80_000_000, 800, 800),
    ];
    taken.census.lengths = vec![
        length(Kind::NonPreemptible, 4_000, 1),
        length(Kind::NonPreemptible, longest, 1),
        length(Kind::InterruptsOff, 80, 1_000_000),
    ];
    taken.moments = vec![moment(0, 11_000, longest + 1_000), moment(1, 400_000, 2_400)];
    let mut late = owned(owner, "shm_close", longest);
    late.chain = vec![frame("[user] init"), frame(owner)];
    late.functions = vec![FunctionShare {
        function: "clear_page".into(),
        caller: Some(owner.into()),
        total_ns: Nanos(longest / 2),
        self_ns: Nanos(longest / 2),
    }];
    let non_preemptible = list(vec![late, owned("do_exit", "do_exit", 4_000)], Nanos(999));
    findings(
        &taken,
        vec![
            non_preemptible,
            TopList::default(),
            TopList::default(),
            TopList::default(),
        ],
        10,
    )
    .unwrap()
}

#[test]
fn one_cell() {
    insta::assert_snapshot!(terminal::cell(&found(80_000, 1, "free_pages"), Style::PLAIN), @r"
        Census of 6.1.full.shm.wakeup.s1
        times are virtual us at 1000 MIPS; 100 000 000 instructions observed

        longest of this run 82.4 us = section 80.0 + wake-up path 2.40; largest sample 81.0
          the largest sum of a section of this run and a wake-up path that a sample of it took, in which no interrupt's
          handler and no thread of higher priority counts twice; no limit: another seed or a longer run may have a longer
          one

                           sections  in all  longest    net
        non-preemptible           2    84.0     80.0   79.5
        higher priority           0       0        0      0
        interrupts off    1 000 000   80000    0.080  0.800
        preemption off            0       0        0      0
        net: without the interrupts and soft interrupts in them
        higher priority: threads of the probe's priority or a higher one; non-preemptible holds them, too

        non-preemptible, by length (a bar grows by one step as the number doubles)
              2.05..4.10                 1  ████████████████████████████████████████
              4.10..8.19                 0
              8.19..16.4                 0
              16.4..32.8                 0
              32.8..65.5                 0
              65.5..131                  1  ████████████████████████████████████████

        non-preemptible, the longest
           longest   net  times  from -> to
              80.0  80.0      1  free_pages -> shm_close
                                 in an unknown task: [user] init > free_pages
                                  50 %     40.0 us  clear_page < free_pages
              4.00  4.00      1  do_exit -> do_exit
                                 in an unknown task:
        times: of the sections longer than 0.999 us

        interrupts off, the longest
           longest    net      times  from -> to
             0.800  0.800  1 000 000  a -> a

        wake-up path
          after a section of 1000 instructions          1 samples: 2.00 (median), 2.00 to 2.00
          of samples that met none                      1 samples: 2.40 (median), 2.40 to 2.40

        samples above, expected by the census and seen
             us  expected  seen      p
           5.00       0.3     1  0.652
           10.0       0.3     1  0.652
           20.0       0.2     1  0.652
           50.0       0.1     1  0.468
        cannot tell: so few samples are expected that the test has no power
        up to 2.40 us nothing is compared: so late are samples that met no long section
    ");
}

#[test]
fn a_run() {
    let cells = [found(80_000, 2, "free_pages"), found(50_000, 1, "free_pages")];
    insta::assert_snapshot!(several::run(&ensembles(&cells), 10, Style::PLAIN), @r"
        Census of 6.1.full under shm, wakeup
        times are virtual us at 1000 MIPS
        seed   sampled  longest  section  tail
        1         51.0     52.4     50.0  cannot tell
        2         81.0     82.4     80.0  cannot tell
        longest section of 1, 2 ... seeds, on average: 65.0, 80.0
        longest of 2 seeds: 82.4 us; one more seed is longer with a chance of 1 in 3, if seeds are alike and independent; by
                            how much is not known
           longest   net  times   seeds  from -> to
              80.0  80.0      2  2 of 2  free_pages -> shm_close
              4.00  4.00      2  2 of 2  do_exit -> do_exit

        longest: the largest sum of a section of this run and a wake-up path that a sample of it took, in which no
                 interrupt's handler and no thread of higher priority counts twice; no limit: another seed or a longer run
                 may have a longer one
    ");
}

#[test]
fn work_that_the_load_counts_is_told_once() {
    let cells = [1, 2].map(|seed| found(80_000, seed, "free_pcppages_bulk"));
    let says = "counted work: free_pcppages_bulk takes longer with the number of pages in a";
    for text in [
        terminal::cell(&cells[0], Style::PLAIN),
        several::run(&ensembles(&cells), 10, Style::PLAIN),
    ] {
        assert_eq!(text.matches(says).count(), 1, "{text}");
    }
    let value: serde_json::Value = serde_json::from_str(&json::ensembles(&ensembles(&cells))).unwrap();
    let ensemble = &value["ensembles"][0];
    assert_eq!(ensemble["union"][0]["counted"]["function"], "free_pcppages_bulk");
    assert!(ensemble["union"][1]["counted"].is_null());
    assert_eq!(ensemble["next_seed"]["longest_ns"], 82_400);
}

#[test]
fn two_cells() {
    let (before, after) = (found(50_000, 1, "free_pages"), found(90_000, 2, "free_folios"));
    let lists = [&before, &after].map(|f| &f.of_kind(Kind::NonPreemptible).longest);
    let differences = diff(lists[0], lists[1]);
    insta::assert_snapshot!(several::diff(&before, &after, &differences, 10, Style::PLAIN), @r"
        Census of 6.1.full.shm.wakeup.s2 against 6.1.full.shm.wakeup.s1
        times are virtual us at 1000 MIPS

                   before   after  times  times  from -> to
        appeared   <0.999    90.0      -      1  free_folios -> shm_close
                                                 after:
                                                 in an unknown task: [user] init > free_folios
                                                  50 %     45.0 us  clear_page < free_folios
        vanished     50.0  <0.999      1      -  free_pages -> shm_close
                                                 before:
                                                 in an unknown task: [user] init > free_pages
                                                  50 %     25.0 us  clear_page < free_pages
        1 more is as long in both
        compared: sections longer than 0.999 us before, 0.999 after; <: not among those, so no longer than this
    ");
    let value: serde_json::Value = serde_json::from_str(&json::diff(&before, &after, &differences)).unwrap();
    assert_eq!(value["differences"][0]["change"], "appeared");
}

#[test]
fn json_names_its_form() {
    let value: serde_json::Value = serde_json::from_str(&json::cell(&found(80_000, 1, "a"))).unwrap();
    assert_eq!(value["schema"], "worstcase-census/4");
    assert_eq!(value["longest_of_run"]["longest_ns"], 80_000 + 2_400);
    assert_eq!(value["kinds"][0]["kind"], "non-preemptible");
    assert_eq!(
        value["kinds"][0]["longest"]["owners"][0]["longest"]["chain"][1]["function"],
        "a"
    );
}

#[test]
fn each_column_is_in_every_form() {
    let cells = [found(80_000, 2, "free_pages"), found(50_000, 1, "do_wp_page")];
    let document = |text: String| serde_json::from_str::<serde_json::Value>(&text).unwrap();
    let cell = document(json::cell(&cells[0]));
    assert_in_every_form(&terminal::kinds(&cells[0]), &cell["kinds"]);
    assert_in_every_form(&terminal::tail_rows(&cells[0].tail), &cell["tail"]["rows"]);
    let [non_preemptible, interrupts_off] =
        [Kind::NonPreemptible, Kind::InterruptsOff].map(|kind| cells[0].of_kind(kind));
    let owners = &cell["kinds"][0]["longest"]["owners"];
    assert_in_every_form(&terminal::of_owners(&non_preemptible.longest), owners);
    assert_in_every_form(&terminal::places(interrupts_off), &cell["kinds"][2]["places"]);
    let all = ensembles(&cells);
    let run = document(json::ensembles(&all));
    assert_in_every_form(&several::seeds(&all[0]), &run["ensembles"][0]["seeds"]);
    assert_in_every_form(&several::owners(&all[0], 10), &run["ensembles"][0]["union"]);
    let lists = [&cells[1], &cells[0]].map(|f| &f.of_kind(Kind::NonPreemptible).longest);
    let differences = diff(lists[0], lists[1]);
    let several_rows: Vec<_> = differences.iter().collect();
    let pair = document(json::diff(&cells[1], &cells[0], &differences));
    assert_in_every_form(&several::changes(&several_rows), &pair["differences"]);
}
