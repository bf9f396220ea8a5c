/** A text of a server without what would command the terminal: a kind may hold any character. */
export function plainText(text: string): string {
  return text.replaceAll(/\p{C}/gu, '\u{fffd}');
}
