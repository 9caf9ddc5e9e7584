//! The manual cannot rot: what it shows is what the program prints.

use std::{fmt::Write as _, fs};

use crate::program::{root, weir, weir_in};

const PAGES: [&str; 4] =
    ["docs/reference/cli.md", "docs/reference/state.md", "docs/reference/scenario.md", "README.md"];

/// How a command begins: with the program, or with what builds and runs it.
const PROMPTS: [&str; 2] = ["$ weir ", "$ cargo run --quiet -- "];

/// A page with the output of every command in its `console` blocks as it really is.
fn replayed(page: &str) -> String {
    let mut result = String::new();
    let mut in_console = false;
    for line in page.lines() {
        let command = PROMPTS.iter().find_map(|prompt| line.strip_prefix(prompt));
        if let Some(command) = command.filter(|_| in_console) {
            let words: Vec<_> = command.split_whitespace().collect();
            let ran = weir(&words);
            assert!(ran.code == 0 || line.contains("staging"), "{line}\n{}", ran.shown());
            let _ = write!(result, "{line}\n{}{}", ran.stdout, ran.stderr);
            continue;
        }
        if in_console && line != "```" {
            continue;
        }
        in_console = line == "```console";
        let _ = writeln!(result, "{line}");
    }
    result
}

/// Set `UPDATE_DOCS` to write the pages instead of checking them.
#[test]
fn the_examples_of_the_manual_print_what_it_shows() {
    for name in PAGES {
        let path = root().join(name);
        let page = fs::read_to_string(&path).unwrap();
        let real = replayed(&page);
        if std::env::var_os("UPDATE_DOCS").is_some() {
            fs::write(&path, real).unwrap();
        } else {
            assert!(page == real, "{name} is not what is printed; run this test with UPDATE_DOCS=1\n{real}");
        }
    }
}

/// The YAML that a page shows, by itself.
fn yaml(page: &str) -> String {
    let page = fs::read_to_string(root().join(page)).unwrap();
    let (_, rest) = page.split_once("```yaml\n").unwrap();
    rest.split_once("```").unwrap().0.to_owned()
}

#[test]
fn the_state_and_the_scenario_that_the_manual_shows_work() {
    let examples = root().join("docs/examples");
    let plan = ["plan", "-f", "pipeline-pull-request.yaml", "--state", "-"];
    let ran = weir_in(&examples, &plan, &yaml(PAGES[1]));
    assert!(ran.code == 0 && ran.stdout.contains("6.2.0"), "{}", ran.shown());
    let ran = weir_in(&examples, &["simulate", "-f", "-"], &yaml(PAGES[2]));
    assert!(ran.code == 0 && ran.stdout.contains("every target of prod runs 6.3.0"), "{}", ran.shown());
}

#[test]
fn every_command_and_every_option_is_in_the_manual() {
    let page = fs::read_to_string(root().join(PAGES[0])).unwrap();
    let commands = [
        "serve",
        "demo",
        "demo release",
        "token create",
        "get",
        "get pipelines",
        "get promotions",
        "get proposals",
        "get versions",
        "get freezes",
        "get audit",
        "get problems",
        "explain",
        "promote",
        "approve",
        "reject",
        "suspend",
        "resume",
        "freeze",
        "unfreeze",
        "proposal",
        "proposal show",
        "proposal diff",
        "proposal approve",
        "proposal request-changes",
        "proposal comment",
        "proposal merge",
        "proposal close",
        "events",
        "backup",
        "lint",
        "plan",
        "simulate",
        "set-version",
        "install",
        "export crds",
        "completion",
        "version",
    ];
    let listed = weir(&["--help"]).stdout;
    let verbs = listed.lines().skip_while(|line| !line.starts_with("Commands:")).skip(1);
    for verb in verbs.map_while(|line| line.split_whitespace().next()).filter(|verb| *verb != "help") {
        assert!(commands.iter().any(|command| command.split(' ').next() == Some(verb)), "{verb} is not tested here");
    }
    for command in commands {
        let named =
            |command: &str| page.split("\n## ").find(|section| section.starts_with(&format!("`weir {command}`")));
        // A family of commands has one section.
        let family = command.split(' ').next().unwrap_or_default();
        let section =
            named(command).or_else(|| named(family)).unwrap_or_else(|| panic!("`weir {command}` has no section"));
        let arguments: Vec<_> = command.split(' ').chain(["--help"]).collect();
        let help = weir(&arguments).stdout;
        let options = help.split_whitespace().map(|word| word.trim_end_matches([',', ')', '.', '`']));
        for option in options.filter(|word| word.starts_with("--") && *word != "--help") {
            let of_all = ["--server", "--token-file", "--output"].contains(&option) && page.contains(option);
            assert!(
                of_all || section.contains(option),
                "`weir {command}` has {option}, and its section does not say so"
            );
        }
    }
}
