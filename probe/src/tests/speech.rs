use crate::capture::{pieces, Kept};
use crate::workload::{parse, Budget, Iteration, Line, Speech};

fn fed(text: &[u8]) -> Result<Speech, String> {
    let mut speech = Speech::default();
    speech.feed(text, &mut Budget::new()).map(|()| speech)
}

#[test]
fn an_iteration_keeps_its_numbers() {
    let found = Iteration { index: 3, start: 10, end: 25, work: 7, cpu: Some(4) };
    assert_eq!(parse("iteration 3 10 25 7 4"), Some(Line::Iteration(found)));
    assert_eq!(parse("iteration 3 10 25 7"), Some(Line::Iteration(Iteration { cpu: None, ..found })));
}

#[test]
fn numbers_that_a_parser_might_let_through_are_refused() {
    for line in [
        "iteration +1 2 3 4",
        "iteration 0 1 2 9223372036854775808",
        "value a infinity",
        "value a 1e400",
        "value a 0x10",
        "value a ",
        "value  a 1",
        "ready ",
        "",
        "iteration 0 1 2 3 4 5",
    ] {
        assert_eq!(parse(line), None, "{line:?}");
    }
}

#[test]
fn whole_numbers_stay_whole() {
    let Some(Line::Value(_, whole)) = parse("value nice -5") else { panic!() };
    let Some(Line::Value(_, broken)) = parse("value ops 1.5e3") else { panic!() };
    assert_eq!((whole.to_string(), broken.to_string()), ("-5".into(), "1500.0".into()));
}

#[test]
fn lines_may_arrive_in_pieces() {
    let (mut speech, mut budget) = (Speech::default(), Budget::new());
    for piece in ["rea", "dy\niter", "ation 0 1 2 3\nvalue a 1\nvalue a", " 2\n"] {
        speech.feed(piece.as_bytes(), &mut budget).unwrap();
    }
    assert!(speech.ready && speech.finish().is_ok());
    assert_eq!((speech.iterations.len(), speech.values["a"].len()), (1, 2));
}

#[test]
fn a_broken_line_is_quoted_without_its_control_characters() {
    let why = fed(b"ready\n\x1b[31mhello\n").err().unwrap();
    assert!(why.contains("hello") && !why.contains('\x1b'), "{why}");
    assert!(fed(b"ready\nready\n").err().unwrap().contains("twice"));
    assert!(fed(&[b'x'; 600]).err().unwrap().contains("512"));
    assert!(fed(b"value a 1").unwrap().finish().is_err());
}

#[test]
fn limits_hold_over_all_copies() {
    let mut budget = Budget::new();
    let names = |from: usize, n: usize| (from..from + n).map(|i| format!("value n{i} 1\n")).collect::<String>();
    let mut speak = |text: String| Speech::default().feed(text.as_bytes(), &mut budget);
    assert_eq!(speak(names(0, 200)), Ok(()));
    assert_eq!(speak(names(0, 200)), Ok(()), "a name counts once");
    assert!(speak(names(200, 57)).unwrap_err().contains("names"));
}

#[test]
fn too_many_iterations_break_the_protocol() {
    let (mut speech, mut budget) = (Speech::default(), Budget::new());
    let text = "iteration 0 1 2 3\n".repeat(1000);
    (0..1000).for_each(|_| speech.feed(text.as_bytes(), &mut budget).unwrap());
    assert!(speech.feed(b"iteration 0 1 2 3\n", &mut budget).unwrap_err().contains("iterations"));
    assert_eq!(speech.iterations.len(), 1_000_000);
}

#[test]
fn the_first_or_the_last_bytes_are_kept() {
    let feed = |mut kept: Kept| {
        ["abc", "defgh", "i"].iter().for_each(|s| kept.push(s.as_bytes()));
        (kept.text(), kept.truncated)
    };
    assert_eq!(feed(Kept::first(4)), ("abcd".into(), true));
    assert_eq!(feed(Kept::last(4)), ("fghi".into(), true));
    assert_eq!(feed(Kept::first(9)), ("abcdefghi".into(), false));
    assert_eq!(feed(Kept::last(0)), (String::new(), true));
}

#[test]
fn text_is_cut_between_characters() {
    assert_eq!(pieces("aéb", 2), ["a", "é", "b"]);
    assert_eq!(pieces("", 2), [""]);
    assert_eq!(pieces("abcd", 2), ["ab", "cd"]);
}
