import { type Clock, ConfigurationError, systemClock } from '@acemq/core';
import { checkRecord, maxBodyOf } from './body-limit.ts';
import { Changes } from './changes.ts';
import { destinationHash, LANES, laneOf } from './destination-hash.ts';
import type { OutboxRecord } from './record.ts';
import type {
  AddOptions,
  Destination,
  Lease,
  OutboxChange,
  OutboxStore,
  OwedDestination,
  OwedKey,
  OwedQuery,
  OwedRecord,
  Refusal,
  Rest,
  RetiredRecord,
  Writers,
} from './store.ts';
import { headersFromText } from './stored-headers.ts';

/** What a {@link MemoryOutboxStore} may be given. */
export interface MemoryOutboxOptions {
  /** In bytes. Default 8 MiB. */
  readonly maxBody?: number | undefined;
  /** Default: the machine's own time. */
  readonly clock?: Clock | undefined;
}

/** A transaction of a {@link MemoryOutboxStore}: what is added in it is there once it has ended well. */
export class MemoryTransaction {
  /** @internal */
  readonly added: OutboxRecord[] = [];
}

interface Row {
  readonly seq: number;
  readonly record: OutboxRecord;
  readonly destination: number;
  readonly createdAt: number;
  state: 'owed' | 'published' | 'retired';
  attempts: number;
  reason: string;
  changedAt: number;
}

/** Keeps records in this process, for tests and demonstrations: what is owed is lost when the process ends. */
export class MemoryOutboxStore implements OutboxStore<MemoryTransaction | undefined, MemoryTransaction> {
  readonly maxBody: number;
  readonly #clock: Clock;
  readonly #changes = new Changes();
  readonly #rows = new Map<string, Row>();
  readonly #owned = new Map<number, { readonly relay: string; readonly until: number }>();
  readonly #relays = new Map<string, number>();
  readonly #rests = new Map<string, Rest & { readonly until: number }>();
  #seq = 0;

  constructor(options: MemoryOutboxOptions = {}) {
    this.maxBody = maxBodyOf(options.maxBody);
    this.#clock = options.clock ?? systemClock;
  }

  /** Without a transaction (`tx: undefined`), the record is there at once. */
  async add(record: OutboxRecord, { tx }: AddOptions<MemoryTransaction | undefined>): Promise<void> {
    checkRecord(record, this.maxBody, 'maxBody');
    if (tx === undefined) this.#insert(record);
    else if (tx instanceof MemoryTransaction) tx.added.push(record);
    else throw new ConfigurationError('tx must be what transaction() hands out, or undefined');
    this.#changes.tell('added');
  }

  async transaction<T>(work: (tx: MemoryTransaction) => Promise<T>): Promise<T> {
    const tx = new MemoryTransaction();
    const result = await work(tx);
    for (const record of tx.added) this.#insert(record);
    this.#changes.tell('committed');
    return result;
  }

  async migrate(): Promise<readonly string[]> {
    return [];
  }

  watch(listener: (change: OutboxChange) => void): () => void {
    return this.#changes.watch(listener);
  }

  async lease(relay: string, leaseTime: number): Promise<Lease> {
    const now = this.#clock.now();
    this.#relays.set(relay, now + leaseTime);
    for (const [name, until] of this.#relays) if (until <= now) this.#relays.delete(name);
    const share = Math.ceil(LANES / this.#relays.size);
    const lanes: number[] = [];
    for (let lane = 0; lane < LANES; lane += 1) if (this.#owned.get(lane)?.relay === relay) lanes.push(lane);
    for (let lane = 0; lane < LANES && lanes.length < share; lane += 1) {
      const owner = this.#owned.get(lane);
      if (owner?.relay !== relay && (owner === undefined || owner.until <= now)) lanes.push(lane);
    }
    for (const lane of lanes) this.#owned.set(lane, { relay, until: now + leaseTime });
    return { lanes, relays: this.#relays.size };
  }

  async giveUp(relay: string, lanes: readonly number[]): Promise<void> {
    for (const lane of lanes) if (this.#owned.get(lane)?.relay === relay) this.#owned.delete(lane);
  }

  async leave(relay: string): Promise<void> {
    this.#relays.delete(relay);
    for (const [lane, owner] of this.#owned) if (owner.relay === relay) this.#owned.delete(lane);
  }

  async owed(query: OwedQuery): Promise<readonly OwedKey[]> {
    const { after, upTo = Number.POSITIVE_INFINITY, lanes, only, without = [], limit } = query;
    const keys: OwedKey[] = [];
    for (const { seq, destination, record } of this.#in('owed')) {
      if (keys.length === limit) break;
      if (seq <= after || seq > upTo || !isIn(lanes, destination)) continue;
      if ((only !== undefined && destination !== only) || without.includes(destination)) continue;
      keys.push({ seq, destination, size: record.body.byteLength });
    }
    return keys;
  }

  async fetch(seqs: readonly number[]): Promise<readonly OwedRecord[]> {
    const now = this.#clock.now();
    const wanted = new Set(seqs);
    return [...this.#in('owed')]
      .filter(({ seq }) => wanted.has(seq))
      .map(({ seq, record, attempts, createdAt }) => ({
        seq,
        id: record.id,
        exchange: record.exchange,
        routingKey: record.routingKey,
        contentType: record.contentType,
        body: record.body,
        headers: headersFromText(record.headerText),
        attempts,
        age: now - createdAt,
      }));
  }

  async published(relay: string, seqs: readonly number[]): Promise<number> {
    const rows = this.#ownedBy(relay, seqs);
    for (const row of rows) this.#change(row, 'published');
    return rows.length;
  }

  async refused(relay: string, refusals: readonly Refusal[], rests: readonly Rest[]): Promise<void> {
    const bySeq = new Map(refusals.map((one) => [one.seq, one]));
    for (const row of this.#ownedBy(relay, [...bySeq.keys()])) {
      const refusal = bySeq.get(row.seq);
      row.attempts += 1;
      row.reason = refusal?.reason ?? '';
      if (refusal?.retire === true) this.#change(row, 'retired');
    }
    for (const rest of rests) {
      this.#rests.set(keyOf(rest), { ...rest, until: this.#clock.now() + rest.remaining });
    }
  }

  async rests(lanes: bigint): Promise<readonly Rest[]> {
    const now = this.#clock.now();
    return [...this.#rests.values()]
      .filter((rest) => isIn(lanes, destinationHash(rest.exchange, rest.routingKey)))
      .map((rest) => ({ ...rest, remaining: rest.until - now }));
  }

  async recovered(destinations: readonly Destination[]): Promise<void> {
    for (const one of destinations) this.#rests.delete(keyOf(one));
  }

  async writers(): Promise<Writers> {
    return { running: [], unsure: false };
  }

  async removePublished(age: number, limit: number): Promise<number> {
    const before = this.#clock.now() - age;
    const old = [...this.#in('published')].filter((row) => row.changedAt < before).slice(0, limit);
    for (const { record } of old) this.#rows.delete(record.id);
    return old.length;
  }

  async pendingCount(): Promise<number> {
    return [...this.#rows.values()].filter(({ state }) => state !== 'published').length;
  }

  async oldestAge(): Promise<number | undefined> {
    const [oldest] = this.#in('owed');
    return oldest === undefined ? undefined : Math.max(0, this.#clock.now() - oldest.createdAt);
  }

  async owedByDestination(): Promise<readonly OwedDestination[]> {
    const now = this.#clock.now();
    const owed = new Map<string, OwedDestination>();
    for (const { record, createdAt } of this.#in('owed')) {
      const known = owed.get(keyOf(record));
      owed.set(keyOf(record), {
        exchange: record.exchange,
        routingKey: record.routingKey,
        count: (known?.count ?? 0) + 1,
        oldestAge: Math.max(known?.oldestAge ?? 0, now - createdAt),
      });
    }
    return [...owed.values()];
  }

  async retired(limit: number): Promise<readonly RetiredRecord[]> {
    return [...this.#in('retired')].slice(0, limit).map((row) => ({
      id: row.record.id,
      exchange: row.record.exchange,
      routingKey: row.record.routingKey,
      attempts: row.attempts,
      reason: row.reason,
      createdAt: row.createdAt,
      retiredAt: row.changedAt,
    }));
  }

  async release(id: string): Promise<boolean> {
    const row = this.#rows.get(id);
    if (row?.state !== 'retired') return false;
    row.attempts = 0;
    this.#change(row, 'owed');
    this.#changes.tell('committed');
    return true;
  }

  #insert(record: OutboxRecord): void {
    if (this.#rows.has(record.id)) return;
    this.#seq += 1;
    const now = this.#clock.now();
    this.#rows.set(record.id, {
      seq: this.#seq,
      record,
      destination: destinationHash(record.exchange, record.routingKey),
      createdAt: now,
      state: 'owed',
      attempts: 0,
      reason: '',
      changedAt: now,
    });
  }

  *#in(state: Row['state']): Iterable<Row> {
    for (const row of this.#rows.values()) if (row.state === state) yield row;
  }

  #ownedBy(relay: string, seqs: readonly number[]): Row[] {
    const wanted = new Set(seqs);
    return [...this.#in('owed')].filter(
      ({ seq, destination }) => wanted.has(seq) && this.#owned.get(laneOf(destination))?.relay === relay,
    );
  }

  #change(row: Row, state: Row['state']): void {
    row.state = state;
    row.changedAt = this.#clock.now();
  }
}

function isIn(lanes: bigint, destination: number): boolean {
  return ((lanes >> BigInt(laneOf(destination))) & 1n) === 1n;
}

function keyOf({ exchange, routingKey }: Destination): string {
  return `${exchange}\0${routingKey}`;
}
