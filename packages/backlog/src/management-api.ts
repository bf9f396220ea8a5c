import { ConfigurationError, ConnectError, shown } from '@acemq/core';

/** What the management API says of a queue; what it does not say yet is `undefined`. */
export interface QueueNumbers {
  readonly name: string;
  readonly ready: number | undefined;
  readonly unacknowledged: number | undefined;
  /** Milliseconds since the epoch. */
  readonly headTimestamp: number | undefined;
  /** Acknowledgements so far. */
  readonly acknowledged: number | undefined;
}

const COLUMNS = 'name,messages_ready,messages_unacknowledged,head_message_timestamp,message_stats.ack';

/** How many queues one request is answered with, the most that the API allows. */
const PAGE_SIZE = 500;

/** RabbitMQ's management API, for the numbers of queues. */
export class ManagementApi {
  /** Where it is, without user and password. */
  readonly address: string;
  readonly #queues: string;
  readonly #authorization: string;

  /** @throws `ConfigurationError` (`ACEMQ_CONFIGURATION`) when the URL is none of http or https. */
  constructor(url: string, vhost: string) {
    let parsed: URL;
    try {
      parsed = new URL(url);
    } catch {
      throw new ConfigurationError(
        'url must be the URL of the management API, such as http://localhost:15672',
      );
    }
    if (parsed.protocol !== 'http:' && parsed.protocol !== 'https:') {
      throw new ConfigurationError(
        `url must begin with http or https, not ${shown(parsed.protocol)}: it is the URL of the management API`,
      );
    }
    const user = decodeURIComponent(parsed.username) || 'guest';
    const password = decodeURIComponent(parsed.password) || 'guest';
    this.address = `${parsed.protocol}//${parsed.host}`;
    this.#queues = `${this.address}${parsed.pathname.replace(/\/$/, '')}/api/queues/${encodeURIComponent(vhost)}`;
    this.#authorization = `Basic ${btoa(String.fromCharCode(...new TextEncoder().encode(`${user}:${password}`)))}`;
  }

  /** The queues whose names match a regular expression, all of one moment. */
  async queues(name: string, signal: AbortSignal | undefined): Promise<readonly QueueNumbers[]> {
    const query = new URLSearchParams({
      page: '1',
      page_size: String(PAGE_SIZE),
      use_regex: 'true',
      name,
      columns: COLUMNS,
    });
    const { items, page_count: pages } = (await this.#get(`${this.#queues}?${query}`, signal)) as {
      items?: unknown;
      page_count?: unknown;
    };
    if (!Array.isArray(items)) throw this.#unreadable('there is no list of queues in it');
    if (typeof pages === 'number' && pages > 1) {
      throw new ConfigurationError(`more than ${PAGE_SIZE} queues at ${this.address} belong to this one`);
    }
    return items.map(numbersOf);
  }

  async #get(url: string, signal: AbortSignal | undefined): Promise<unknown> {
    let response: Response;
    let text: string;
    try {
      const headers = { authorization: this.#authorization, accept: 'application/json' };
      response = await fetch(url, { headers, ...(signal === undefined ? {} : { signal }) });
      text = await response.text();
    } catch (error) {
      throw new ConnectError(`the management API at ${this.address} did not answer`, { cause: error });
    }
    if (response.status === 401 || response.status === 403) {
      throw new ConnectError(
        `the management API at ${this.address} refused the user or the password: ${response.status}`,
        { refused: true },
      );
    }
    if (response.status === 404) {
      throw new ConfigurationError(`the management API at ${this.address} knows no such virtual host: 404`);
    }
    if (!response.ok) {
      throw new ConnectError(`the management API at ${this.address} answered ${response.status}`);
    }
    try {
      return JSON.parse(text);
    } catch (error) {
      throw this.#unreadable('it is no JSON', error);
    }
  }

  #unreadable(why: string, cause?: unknown): ConnectError {
    return new ConnectError(`the answer of the management API at ${this.address} cannot be read: ${why}`, {
      cause,
    });
  }
}

function numbersOf(item: Record<string, unknown>): QueueNumbers {
  const { message_stats: stats } = item as { message_stats?: { ack?: unknown } };
  // In seconds, and null where there is no message or it has no timestamp.
  const head = number(item['head_message_timestamp']);
  return {
    name: String(item['name']),
    ready: number(item['messages_ready']),
    unacknowledged: number(item['messages_unacknowledged']),
    headTimestamp: head === undefined ? undefined : head * 1000,
    acknowledged: number(stats?.ack),
  };
}

function number(value: unknown): number | undefined {
  return typeof value === 'number' ? value : undefined;
}
