//! Secrets in what a real agent streams: cut over several pieces, they reach neither the ledger nor the terminal nor any other file of
//! the run.

use std::fs;
use std::path::Path;

use serde_json::json;

use crate::agents_yard::{AgentYard, Kind, talk};

/// As many letters of a secret in a row that would be too many.
const TOO_MANY: usize = 8;

/// All files below a folder, as text.
fn texts(folder: &Path, found: &mut Vec<(String, String)>) {
    for entry in fs::read_dir(folder).unwrap().flatten() {
        if entry.file_type().unwrap().is_dir() {
            texts(&entry.path(), found);
        } else if entry.file_type().unwrap().is_file() {
            let text = fs::read(entry.path()).unwrap();
            found.push((entry.path().display().to_string(), String::from_utf8_lossy(&text).into()));
        }
    }
}

/// A token of a well-known shape, and a password of the project's `.env`; the model sends 24 letters at a time, and tool inputs up to
/// each comma.
fn keeps_secrets_that_come_in_pieces(kind: Kind) {
    let token = format!("{}_{}", "ghp", "Zq7Lw2Xn9Rt4Vb6Kc1Hd8Jf3Mg5Ps0Yx2Tz4");
    let password = "plum,harbor,velvet,9Qx";
    let turns = json!([
        {"think": format!("The token is {token}, so I can push. The other one is {password}."),
         "say": format!("I found the token {token} in a file, and the password {password} beside it."),
         "calls": [kind.write("notes.md", &format!("{token} {password}"))]},
        {"calls": [kind.leave("done", &format!("used {token} and {password}"))]},
        {"say": format!("Pushed with {token}, then signed in with {password}. Both of them still work.")},
    ]);
    let workflow = "name: One\nphases: {work: {next: [done]}}\n";
    let yard = AgentYard::new(kind, workflow, &json!([talk("main", "`work`: ", &turns)]));
    yard.session.write(".env", format!("PASSWORD={password}\n"));
    let said = yard.exits(yard.run(), 0);
    yard.assert_played();
    assert!(yard.session.read("notes.md").contains(&token), "the worker itself may use it");
    let mut found = vec![("terminal".to_owned(), format!("{}{}", said.stdout, said.stderr))];
    for command in [&["log", "--tools"][..], &["status", "--json"], &["log", "--json"]] {
        found.push((command.join(" "), yard.session.chronicle(command).stdout));
    }
    texts(&yard.session.run_file(""), &mut found);
    assert!(found.iter().any(|(_, text)| text.contains("Both of them still work")));
    for secret in [&token[4..], password] {
        let letters: Vec<char> = secret.chars().collect();
        for part in letters.windows(TOO_MANY) {
            let part: String = part.iter().collect();
            for (name, text) in &found {
                let line = text.lines().find(|line| line.contains(&part)).unwrap_or_default();
                assert!(line.is_empty(), "`{part}` in {name}: {line:.2000}");
            }
        }
    }
}

#[test]
fn needs_claude_keeps_secrets_that_come_in_pieces() {
    keeps_secrets_that_come_in_pieces(Kind::Claude);
}

#[test]
fn needs_pi_old_keeps_secrets_that_come_in_pieces() {
    keeps_secrets_that_come_in_pieces(Kind::PiOld);
}

#[test]
fn needs_pi_new_keeps_secrets_that_come_in_pieces() {
    keeps_secrets_that_come_in_pieces(Kind::PiNew);
}
