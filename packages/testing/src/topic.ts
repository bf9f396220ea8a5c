/**
 * Whether a routing key matches a topic pattern, word by word: `*` stands for one word, `#` for none or more.
 *
 * Words are what lies between dots, empty ones included; the empty key has no word at all, so that `#`
 * matches it and `*` does not.
 */
export function matchesTopic(pattern: readonly string[], key: readonly string[]): boolean {
  // Where to go on when a word does not fit: the last `#` is made to stand for one word more.
  let hash = -1;
  let resume = 0;
  let at = 0;
  let word = 0;
  while (word < key.length) {
    const expected = pattern[at];
    if (expected === '#') {
      hash = at;
      resume = word;
      at += 1;
    } else if (expected !== undefined && (expected === '*' || expected === key[word])) {
      at += 1;
      word += 1;
    } else if (hash >= 0) {
      resume += 1;
      word = resume;
      at = hash + 1;
    } else {
      return false;
    }
  }
  while (pattern[at] === '#') at += 1;
  return at === pattern.length;
}

/** The words of a routing key or a pattern. */
export function topicWords(text: string): readonly string[] {
  return text === '' ? [] : text.split('.');
}
