//! Splits a shell command line into words and operators.

/// A word or an operator. Redirections are left out: they do not change which command's exit code counts.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Token {
    Word(Word),
    And,
    Or,
    /// `;` or the end of a line.
    End,
    Background,
    Pipe,
    Open,
    Close,
}

/// A word without its quotes.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub(super) struct Word {
    pub(super) text: String,
    /// True if a part of it was quoted: then it is no keyword.
    pub(super) is_quoted: bool,
    /// Command lines inside it: `$(…)` and backticks.
    pub(super) inner: Vec<String>,
}

/// Why a line is not understood.
pub(super) type Unclear = &'static str;

const SUBSTITUTION: Unclear = "the line uses `<(…)` or `>(…)`, which Chronicle does not read";
const OPEN_QUOTE: Unclear = "a quote in the line is not closed";

/// Operators, longer ones before their beginnings.
const OPERATORS: [(&str, Token); 10] = [
    ("&&", Token::And),
    ("||", Token::Or),
    ("|&", Token::Pipe),
    ("|", Token::Pipe),
    (";", Token::End),
    ("(", Token::Open),
    (")", Token::Close),
    // Before `&` alone: they redirect.
    ("&>>", Token::End),
    ("&>", Token::End),
    ("&", Token::Background),
];

/// The words and operators of a line.
pub(super) fn tokens(line: &str) -> Result<Vec<Token>, Unclear> {
    let mut reader = TokenReader { left: line.chars().collect(), at: 0, ..TokenReader::default() };
    while reader.next()? {}
    // A missing end means that the line was cut, or is not what a shell would read.
    if reader.documents.is_empty() { Ok(reader.out) } else { Err("a here-document has no end") }
}

#[derive(Default)]
struct TokenReader {
    left: Vec<char>,
    at: usize,
    out: Vec<Token>,
    /// Here-documents that begin at the next line: their last line, and whether tabs before it are ignored.
    documents: Vec<(String, bool)>,
}

impl TokenReader {
    fn peek(&self, ahead: usize) -> Option<char> {
        self.left.get(self.at + ahead).copied()
    }

    fn eat(&mut self, text: &str) -> bool {
        let is_next = text.chars().enumerate().all(|(at, letter)| self.peek(at) == Some(letter));
        self.at += if is_next { text.chars().count() } else { 0 };
        is_next
    }

    /// Reads one token. False at the end of the line.
    fn next(&mut self) -> Result<bool, Unclear> {
        let Some(letter) = self.peek(0) else { return Ok(false) };
        match letter {
            '\n' => {
                self.at += 1;
                self.out.push(Token::End);
                self.skip_documents()?;
            }
            // Only reached between words: inside of one, as in `a#b`, a `#` is an ordinary character.
            '#' => {
                while self.peek(0).is_some_and(|letter| letter != '\n') {
                    self.at += 1;
                }
            }
            _ if letter.is_whitespace() || self.eat("\\\n") => {
                self.at += usize::from(letter.is_whitespace());
            }
            _ => self.token()?,
        }
        Ok(true)
    }

    fn token(&mut self) -> Result<(), Unclear> {
        if self.eat("<(") || self.eat(">(") || self.eat(";;") || self.eat(";&") {
            return Err("the line uses syntax that Chronicle does not read");
        }
        if let Some((text, token)) = OPERATORS.iter().find(|(text, _)| self.eat(text)) {
            // These redirect, and the word behind them is a file, not a command.
            if text.contains('>') {
                return self.target();
            }
            self.out.push(token.clone());
            return Ok(());
        }
        if self.peek(0).is_some_and(|letter| "<>".contains(letter)) {
            return self.redirection();
        }
        let word = self.word()?;
        // `2>` names a file descriptor.
        let is_number = !word.is_quoted && word.text.bytes().all(|byte| byte.is_ascii_digit());
        if is_number && self.peek(0).is_some_and(|letter| "<>".contains(letter)) {
            return self.redirection();
        }
        self.out.push(Token::Word(word));
        Ok(())
    }

    fn redirection(&mut self) -> Result<(), Unclear> {
        if !self.eat("<<<") && self.eat("<<") {
            let strips = self.eat("-");
            self.skip_blanks();
            // Its body begins at the next line, not here: more commands may follow on this one.
            let end = self.word()?;
            self.documents.push((end.text, strips));
            return Ok(());
        }
        if self.eat("<(") || self.eat(">(") {
            return Err(SUBSTITUTION);
        }
        while self.peek(0).is_some_and(|letter| "<>&|".contains(letter)) {
            self.at += 1;
        }
        self.target()
    }

    /// The file that a redirection names.
    fn target(&mut self) -> Result<(), Unclear> {
        self.skip_blanks();
        if self.eat("<(") || self.eat(">(") {
            return Err(SUBSTITUTION);
        }
        let word = self.word()?;
        if word.text.is_empty() && !word.is_quoted {
            return Err("a redirection in the line has no file");
        }
        if word.inner.is_empty() { Ok(()) } else { Err("a redirection in the line runs a command") }
    }

    fn skip_blanks(&mut self) {
        while self.peek(0).is_some_and(|letter| letter == ' ' || letter == '\t') {
            self.at += 1;
        }
    }

    fn skip_documents(&mut self) -> Result<(), Unclear> {
        for (end, strips) in std::mem::take(&mut self.documents) {
            loop {
                if self.at >= self.left.len() {
                    return Err("a here-document has no end");
                }
                let rest = &self.left[self.at..];
                let length = rest.iter().position(|letter| *letter == '\n').unwrap_or(rest.len());
                let line: String = rest[..length].iter().collect();
                self.at = (self.at + length + 1).min(self.left.len());
                let line = if strips { line.trim_start_matches('\t') } else { &line };
                if line == end {
                    break;
                }
            }
        }
        Ok(())
    }

    fn word(&mut self) -> Result<Word, Unclear> {
        let mut word = Word::default();
        while let Some(letter) = self.peek(0) {
            match letter {
                '\'' => self.single(&mut word)?,
                '"' => self.double(&mut word)?,
                '\\' => self.escaped(&mut word),
                // Its escapes could spell any word. Reading them wrongly would be worse than not at all.
                '$' if matches!(self.peek(1), Some('\'' | '"')) => {
                    return Err("the line uses `$'…'`, which Chronicle does not read");
                }
                '$' | '`' => self.expansion(&mut word)?,
                _ if letter.is_whitespace() || "&|;()<>".contains(letter) => break,
                _ => self.take(&mut word),
            }
        }
        Ok(word)
    }

    fn take(&mut self, word: &mut Word) {
        word.text.extend(self.peek(0));
        self.at += 1;
    }

    fn escaped(&mut self, word: &mut Word) {
        self.at += 1;
        if self.peek(0) == Some('\n') {
            self.at += 1;
        } else {
            word.is_quoted = true;
            self.take(word);
        }
    }

    fn single(&mut self, word: &mut Word) -> Result<(), Unclear> {
        (self.at, word.is_quoted) = (self.at + 1, true);
        while !self.eat("'") {
            self.peek(0).ok_or(OPEN_QUOTE)?;
            self.take(word);
        }
        Ok(())
    }

    fn double(&mut self, word: &mut Word) -> Result<(), Unclear> {
        (self.at, word.is_quoted) = (self.at + 1, true);
        loop {
            match self.peek(0).ok_or(OPEN_QUOTE)? {
                '"' => {
                    self.at += 1;
                    return Ok(());
                }
                '\\' => self.escaped(word),
                '$' | '`' => self.expansion(word)?,
                _ => self.take(word),
            }
        }
    }

    /// `$x`, `${x}`, `$(…)` or backticks. Their text stays in the word, so that it equals no plain word.
    fn expansion(&mut self, word: &mut Word) -> Result<(), Unclear> {
        if self.eat("$(") {
            let inner = self.until('(', ')')?;
            word.text.push_str("$()");
            word.inner.push(inner);
        } else if self.eat("${") {
            let inner = self.until('{', '}')?;
            // Such an expansion may itself run a command or hide a bracket.
            if inner.contains(['`', '(', '\'', '"']) {
                return Err("the line uses `${…}` in a way that Chronicle does not read");
            }
            word.text.extend(["${", &inner, "}"]);
        } else if self.eat("`") {
            let inner = self.until('`', '`')?;
            word.text.push_str("$()");
            word.inner.push(inner);
        } else {
            self.take(word);
        }
        Ok(())
    }

    /// The text up to the closing bracket. Brackets in quotes do not count; quotes stay.
    fn until(&mut self, open: char, close: char) -> Result<String, Unclear> {
        let (mut depth, mut quote, mut inner) = (0_usize, None, String::new());
        loop {
            let letter = self.peek(0).ok_or("a bracket in the line is not closed")?;
            self.at += 1;
            match (quote, letter) {
                (_, '\\') if quote != Some('\'') => {
                    inner.push(letter);
                    inner.extend(self.peek(0));
                    self.at += 1;
                    continue;
                }
                (Some(is), _) if is == letter => quote = None,
                (None, '\'' | '"') => quote = Some(letter),
                (None, _) if letter == close && depth == 0 => return Ok(inner),
                (None, _) if letter == close => depth -= 1,
                (None, _) if letter == open => depth += 1,
                (Some(_) | None, _) => {}
            }
            inner.push(letter);
        }
    }
}
