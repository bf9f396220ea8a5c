/** Readers of replies, which come as lists, maps or objects, by client and protocol. */

export function asList(reply: unknown): readonly unknown[] {
  return Array.isArray(reply) ? reply : [];
}

/** A reply of names and values: a flat list, a `Map` or an object. */
export function asFields(reply: unknown): ReadonlyMap<string, unknown> {
  if (reply instanceof Map) return reply;
  if (Array.isArray(reply)) {
    const fields = new Map<string, unknown>();
    for (let index = 0; index + 1 < reply.length; index += 2)
      fields.set(String(reply[index]), reply[index + 1]);
    return fields;
  }
  return new Map(Object.entries(reply ?? {}));
}

/** `null` for what is absent, or is no number. */
export function asNumber(reply: unknown): number | null {
  if (reply === null || reply === undefined || reply === '') return null;
  const number = Number(reply);
  return Number.isFinite(number) ? number : null;
}

/** The value of one field of an entry, of which the same may come as a list, a `Map` or an object. */
export function fieldOf(fields: unknown, name: string): string | undefined {
  if (!Array.isArray(fields)) {
    const value = asFields(fields).get(name);
    return value === undefined || value === null ? undefined : String(value);
  }
  for (let index = 0; index + 1 < fields.length; index += 2) {
    if (String(fields[index]) === name) return String(fields[index + 1]);
  }
  return undefined;
}
