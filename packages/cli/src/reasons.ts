/** What differs from message to message in what is the same reason: ids, numbers, what stands in quotes. */
const VARYING: readonly (readonly [RegExp, string])[] = [
  [/"[^"]*"|'[^']*'/g, '<text>'],
  [/(?<![\w-])(?=[\w-]*\d)[\w-]+/g, '<n>'],
];

/** A reason without what differs from message to message. */
function commonReason(reason: string): string {
  return VARYING.reduce((text, [what, word]) => text.replaceAll(what, word), reason);
}

/** How the library begins a reason, and what of that is worth its place in a narrow column. */
const BEGINNINGS: readonly (readonly [RegExp, string])[] = [
  // The number of attempts stands beside it.
  [/^exhausted \d+ attempts?(?:, as no retry policy allows another)?: /, ''],
  [/^the handler rejected it: /, 'rejected: '],
  [/^the handler parked it: /, 'parked: '],
  [/^the handler reported an unprocessable message: /, 'fatal: '],
  [/^could not be decoded: /, 'not decoded: '],
];

/** A reason in few words. `show` has all of them. */
export function shortReason(reason: string | undefined): string {
  if (reason === undefined) return '(none given)';
  const beginning = BEGINNINGS.find(([words]) => words.test(reason));
  return beginning === undefined ? reason : reason.replace(...beginning);
}

interface Group {
  readonly words: string[];
  count: number;
}

/** How often each reason stands, the most frequent first. Of those that are alike, what differs is left out. */
export class Reasons {
  readonly #groups = new Map<string, Group>();

  add(reason: string | undefined): void {
    const text = shortReason(reason);
    const common = commonReason(text);
    const words = text.split(' ');
    const group = this.#groups.get(common);
    if (group === undefined) {
      this.#groups.set(common, { words, count: 1 });
      return;
    }
    group.count += 1;
    group.words.forEach((word, at) => {
      if (words[at] !== word) group.words[at] = '*';
    });
  }

  list(): readonly { readonly reason: string; readonly count: number }[] {
    return [...this.#groups.values()]
      .map(({ words, count }) => ({ reason: words.join(' '), count }))
      .sort((a, b) => b.count - a.count);
  }
}
