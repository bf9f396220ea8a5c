import { UNKNOWN_KIND } from './kind-tally.ts';
import type { RedisCall } from './redis-calls.ts';
import { asList, fieldOf } from './redis-replies.ts';
import { idAfter } from './stream-id.ts';

/** How many entries one command is asked for. */
export const PAGE = 1000;

/** Is told how many entries of a kind a page has, and the oldest of them. */
export type Counted = (kind: string, count: number, oldest: string) => void;

/** Reads the entries of a stream in pages and says how many of each kind there are. */
export interface StreamPages {
  /** Entries from one id to another, both included. Resolves to the id of the last; nothing without any. */
  entries(from: string, to: string, counted: Counted): Promise<{ entries: number; last: string | undefined }>;
  /** Entries that the group was given and has not acknowledged. */
  pending(from: string, to: string, counted: Counted): Promise<{ entries: number; last: string | undefined }>;
}

/** Walks a range page by page. Never asks again once the end was reached. */
export async function walk(
  page: (from: string, to: string) => Promise<{ entries: number; last: string | undefined }>,
  from: string,
  to: string,
  check: () => void,
): Promise<void> {
  for (let next = from; ; ) {
    check();
    const { entries, last } = await page(next, to);
    if (entries < PAGE || last === undefined || last === to) return;
    next = idAfter(last);
  }
}

/** Has the entries sent, and counts them here. */
export class ClientPages implements StreamPages {
  readonly #call: RedisCall;
  readonly #stream: string;
  readonly #group: string;
  readonly #field: string;

  constructor(call: RedisCall, stream: string, group: string, field: string) {
    this.#call = call;
    this.#stream = stream;
    this.#group = group;
    this.#field = field;
  }

  async entries(
    from: string,
    to: string,
    counted: Counted,
  ): Promise<{ entries: number; last: string | undefined }> {
    const page = asList(await this.#call('XRANGE', this.#stream, from, to, 'COUNT', String(PAGE)));
    for (const entry of page) this.#count(entry, counted);
    return { entries: page.length, last: idOf(page.at(-1)) };
  }

  async pending(
    from: string,
    to: string,
    counted: Counted,
  ): Promise<{ entries: number; last: string | undefined }> {
    const page = asList(await this.#call('XPENDING', this.#stream, this.#group, from, to, String(PAGE)));
    const ids = page.map((line) => String(asList(line)[0]));
    // Sent in one go: the client writes them together, and the answers come back together.
    const found = await Promise.all(ids.map((id) => this.#call('XRANGE', this.#stream, id, id)));
    found.forEach((reply, index) => {
      const [entry] = asList(reply);
      if (entry === undefined) counted(UNKNOWN_KIND, 1, ids[index] as string);
      else this.#count(entry, counted);
    });
    return { entries: ids.length, last: ids.at(-1) };
  }

  #count(entry: unknown, counted: Counted): void {
    const [id, fields] = asList(entry);
    counted(fieldOf(fields, this.#field) || UNKNOWN_KIND, 1, String(id));
  }
}

/** Adds one to the count of a kind, and keeps the first id of each, which is the oldest. */
const COUNTING = `
local kinds, counts, oldest = {}, {}, {}
local function count(id, fields)
  local kind = ARGV[5]
  if fields then
    for i = 1, #fields, 2 do
      if fields[i] == ARGV[4] then
        if fields[i + 1] ~= '' then kind = fields[i + 1] end
        break
      end
    end
  end
  if counts[kind] then
    counts[kind] = counts[kind] + 1
  else
    counts[kind] = 1
    oldest[kind] = id
    kinds[#kinds + 1] = kind
  end
end
local function answer(entries, last)
  local reply = { entries, last }
  for _, kind in ipairs(kinds) do
    reply[#reply + 1] = kind
    reply[#reply + 1] = counts[kind]
    reply[#reply + 1] = oldest[kind]
  end
  return reply
end`;

const COUNT_ENTRIES = `${COUNTING}
local page = redis.call('XRANGE', KEYS[1], ARGV[1], ARGV[2], 'COUNT', ARGV[3])
for _, entry in ipairs(page) do count(entry[1], entry[2]) end
return answer(#page, #page > 0 and page[#page][1] or '')`;

const COUNT_PENDING = `${COUNTING}
local page = redis.call('XPENDING', KEYS[1], ARGV[6], ARGV[1], ARGV[2], ARGV[3])
for _, line in ipairs(page) do
  local found = redis.call('XRANGE', KEYS[1], line[1], line[1])
  count(line[1], found[1] and found[1][2])
end
return answer(#page, #page > 0 and page[#page][1] or '')`;

/** Has each page counted by a read-only script (Redis 7), on the server's one thread, and only the counts sent. */
export class ServerPages implements StreamPages {
  readonly #call: RedisCall;
  readonly #stream: string;
  readonly #group: string;
  readonly #field: string;

  constructor(call: RedisCall, stream: string, group: string, field: string) {
    this.#call = call;
    this.#stream = stream;
    this.#group = group;
    this.#field = field;
  }

  entries(
    from: string,
    to: string,
    counted: Counted,
  ): Promise<{ entries: number; last: string | undefined }> {
    return this.#run(COUNT_ENTRIES, from, to, counted);
  }

  pending(
    from: string,
    to: string,
    counted: Counted,
  ): Promise<{ entries: number; last: string | undefined }> {
    return this.#run(COUNT_PENDING, from, to, counted);
  }

  async #run(
    script: string,
    from: string,
    to: string,
    counted: Counted,
  ): Promise<{ entries: number; last: string | undefined }> {
    const given = [from, to, String(PAGE), this.#field, UNKNOWN_KIND, this.#group];
    const [entries, last, ...kinds] = asList(
      await this.#call('EVAL_RO', script, '1', this.#stream, ...given),
    );
    for (let index = 0; index + 2 < kinds.length; index += 3) {
      counted(String(kinds[index]), Number(kinds[index + 1]), String(kinds[index + 2]));
    }
    return { entries: Number(entries), last: last === '' ? undefined : String(last) };
  }
}

function idOf(entry: unknown): string | undefined {
  const [id] = asList(entry);
  return id === undefined ? undefined : String(id);
}
