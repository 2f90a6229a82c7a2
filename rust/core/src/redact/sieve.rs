//! Skips what no literal begins in, two bytes at a time.
//!
//! An automaton waits for the memory at every byte. Nearly all places of a text can be told apart from the
//! beginnings of literals by three bytes, looked up as two pairs that do not wait for each other; and where
//! three bytes tell of a literal that begins with them as well as of one that began a byte before, every
//! other place need not be looked at.

/// How many places are told apart at a time.
const STEP: usize = 16;
/// How many literals' groups there are: both pairs must be of one.
const GROUPS: usize = 8;
/// How many pairs of bytes there are.
const PAIRS: usize = 1 << 16;
/// One entry for each pair: a bit for each group that has it.
type Pairs = Box<[u8; PAIRS]>;

/// The beginnings of literals, without regard to ASCII case. It lets too much through, never too little.
pub(super) struct Sieve {
    /// The first two of three bytes in a row.
    first: Pairs,
    /// The last two of them.
    second: Pairs,
}

impl Sieve {
    /// For literals that are not empty.
    pub(super) fn new(literals: &[Vec<u8>]) -> Self {
        #[expect(
            clippy::large_stack_arrays,
            reason = "it is made where it stays, or moved once"
        )]
        let empty: Pairs = Box::new([0; PAIRS]);
        let (mut first, mut second) = (empty.clone(), empty);
        // Behind a short literal anything may stand: those are a group of their own. The others are
        // grouped by their beginnings, so that the groups share as few pairs as can be.
        let mut sorted: Vec<&Vec<u8>> = literals.iter().collect();
        sorted.sort_unstable_by_key(|literal| (literal.len().min(4), *literal));
        for (at, literal) in sorted.iter().enumerate() {
            let group = 1 << (at * GROUPS / sorted.len());
            for begin in 0..2 {
                let byte = |at: usize| literal.get(begin + at).copied();
                add(&mut first, byte(0), byte(1), group);
                add(&mut second, byte(1), byte(2), group);
            }
        }
        Self { first, second }
    }

    /// A place from `at` on before which no literal begins; one may there or a byte behind. The last few
    /// bytes of the text are not told apart.
    #[inline]
    pub(super) fn skip(&self, hay: &[u8], mut at: usize) -> usize {
        while let Some(bytes) = hay.get(at..).and_then(<[u8]>::first_chunk::<{ STEP + 2 }>) {
            let pair = |at: usize| usize::from(u16::from_le_bytes([bytes[at], bytes[at + 1]]));
            let groups = |place: usize| self.first[pair(place)] & self.second[pair(place + 1)];
            let any = groups(1)
                | groups(3)
                | groups(5)
                | groups(7)
                | groups(9)
                | groups(11)
                | groups(13)
                | groups(15);
            if any != 0 {
                let place = (1..STEP).step_by(2).find(|&place| groups(place) != 0);
                return at + place.map_or(0, |place| place - 1);
            }
            at += STEP;
        }
        at
    }
}

/// Notes a pair for a group; None is any byte.
fn add(pairs: &mut Pairs, one: Option<u8>, other: Option<u8>, group: u8) {
    let forms = |byte: Option<u8>| match byte {
        Some(byte) => vec![byte.to_ascii_lowercase(), byte.to_ascii_uppercase()],
        None => (0..=u8::MAX).collect(),
    };
    let others = forms(other);
    for one in forms(one) {
        for &other in &others {
            pairs[usize::from(u16::from_le_bytes([one, other]))] |= group;
        }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::Sieve;

    /// Every place where a literal begins, one after the other.
    fn begins(literals: &[Vec<u8>], hay: &[u8]) -> Vec<usize> {
        let here = |at: &usize| {
            literals.iter().any(|literal| {
                hay.get(*at..*at + literal.len())
                    .is_some_and(|bytes| bytes.eq_ignore_ascii_case(literal))
            })
        };
        (0..hay.len()).filter(here).collect()
    }

    proptest! {
        #[test]
        fn no_literal_begins_in_what_is_skipped(
            literals in prop::collection::vec("[ab\u{e9}-]{1,5}", 1..12),
            text in "[abABcd\u{e9}-]{0,200}",
            from in 0_usize..40,
        ) {
            let literals: Vec<_> = literals.into_iter().map(String::into_bytes).collect();
            let sieve = Sieve::new(&literals);
            let begins = begins(&literals, text.as_bytes());
            let mut at = from.min(text.len());
            while at < text.len() {
                let next = sieve.skip(text.as_bytes(), at);
                prop_assert!(next >= at && next <= text.len());
                prop_assert!(!begins.iter().any(|begin| (at..next).contains(begin)));
                at = next + 2;
            }
        }
    }

    #[test]
    fn a_text_without_literals_is_skipped() {
        let literals = ["token", "sk-", "://"].map(|each| each.as_bytes().to_vec());
        let sieve = Sieve::new(&literals);
        let text = "worker 17 finished its job in 20 ms. ".repeat(100);
        let end = sieve.skip(text.as_bytes(), 0);
        assert!(text.len() - end < 18, "{end} of {}", text.len());
        let text = text + "TOKEN" + &"-".repeat(20);
        let found = sieve.skip(text.as_bytes(), 0);
        assert!((found..found + 2).contains(&(text.len() - 25)), "{found}");
    }
}
