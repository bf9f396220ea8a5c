/**
 * The parts of a JSON object or a JSON list, each as it is written: `"name": value` or an item. To parse a value and
 * to write it again would change a number that JavaScript cannot hold, and those that belong to somebody else.
 *
 * @param text - Valid JSON, which begins with a brace or a bracket.
 */
export function partsOf(text: string): string[] {
  const parts: string[] = [];
  let depth = 0;
  let start = 0;
  for (let at = 0; at < text.length; at += 1) {
    switch (text[at]) {
      case '"':
        at = endOfText(text, at);
        break;
      case '{':
      case '[':
        depth += 1;
        if (depth === 1) start = at + 1;
        break;
      case '}':
      case ']':
        depth -= 1;
        if (depth === 0) {
          const last = text.slice(start, at).trim();
          if (last !== '') parts.push(last);
          return parts;
        }
        break;
      case ',':
        if (depth === 1) {
          parts.push(text.slice(start, at).trim());
          start = at + 1;
        }
    }
  }
  return parts;
}

/** The members of a JSON object by name, each value as it is written. Of several with one name the last, as `JSON.parse` has it. */
export function membersOf(text: string): Map<string, string> {
  const members = new Map<string, string>();
  for (const part of partsOf(text)) {
    const end = endOfText(part, 0);
    const value = part.slice(end + 1).trimStart();
    members.set(JSON.parse(part.slice(0, end + 1)) as string, value.slice(1).trimStart());
  }
  return members;
}

/** The text of a JSON object. */
export function objectOf(members: ReadonlyMap<string, string>): string {
  return `{${Array.from(members, ([name, value]) => `${JSON.stringify(name)}:${value}`).join(',')}}`;
}

/** Where a text ends that begins at a quotation mark. */
function endOfText(text: string, start: number): number {
  let at = start + 1;
  while (text[at] !== '"') at += text[at] === '\\' ? 2 : 1;
  return at;
}
