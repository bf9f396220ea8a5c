/**
 * A text of at most `longest` UTF-16 code units; a longer one is cut and ends with `…`. Never cut between the halves of
 * a surrogate pair: what is left must be text that UTF-8 can carry.
 */
export function cutText(text: string, longest: number): string {
  if (text.length <= longest) return text;
  let end = longest - 1;
  const last = text.charCodeAt(end - 1);
  if (last >= 0xd800 && last <= 0xdbff) end -= 1;
  return `${text.slice(0, end)}…`;
}
