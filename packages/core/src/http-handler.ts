import { ConfigurationError } from './errors.ts';
import { guardLogger } from './guarded-logger.ts';
import type { Logger } from './logger.ts';
import { shown } from './shown.ts';

/** The request that `node:http` hands to a listener, as far as a handler looks at it. */
export interface NodeRequest {
  readonly method?: string | undefined;
}

/** The response that `node:http` hands to a listener, as far as a handler uses it. */
export interface NodeResponse {
  readonly headersSent: boolean;
  readonly writableEnded: boolean;
  readonly destroyed: boolean;
  writeHead(status: number, headers: Record<string, string>): unknown;
  end(body: Uint8Array): unknown;
  destroy?(): unknown;
}

/**
 * One function for every server: a listener that `node:http`, Express and the like take, and a function from a
 * `Request` to its `Response`, as Bun, Deno, Hono and Next have them. Which of the two it is called as shows in the second
 * argument: a response of Node's, or something else or nothing.
 *
 * It answers on whatever path it is put. GET and HEAD are answered, everything else with 405. It never throws and never
 * rejects for what a client does; called with something that is no request, it rejects with `ConfigurationError`
 * (`ACEMQ_CONFIGURATION`). What it answers may not be kept by a cache.
 */
export interface HttpHandler {
  (request: NodeRequest, response: NodeResponse): void;
  // Last, because that is the one that type inference sees, and Next's check of a route infers.
  (request: Request): Promise<Response>;
}

/** What a handler has to say to GET. */
export interface HttpAnswer {
  readonly status: number;
  readonly contentType: string;
  readonly body: string;
}

/** What {@link httpHandler} is made with. */
export interface HttpHandlerOptions {
  /** What the handler is called, in the log. */
  readonly name: string;
  /** Gets one line when it begins to fail, and the next one only after it has answered again. */
  readonly logger: Pick<Logger, 'error'>;
}

interface Reply {
  readonly status: number;
  readonly headers: Record<string, string>;
  /** Undefined for HEAD. */
  readonly body: Uint8Array<ArrayBuffer> | undefined;
  /** Whether it is what the handler had to say. */
  readonly answers: boolean;
}

const METHODS = ['GET', 'HEAD'];
const TEXT = 'text/plain; charset=utf-8';
const NOTHING = new Uint8Array();

/**
 * A handler out of what it has to say. When `answer` throws or rejects, the client gets a 500 that says nothing of it, and
 * the log has the error.
 *
 * @param answer - Called for each GET and HEAD.
 * @throws `ConfigurationError` (`ACEMQ_CONFIGURATION`) for a logger without `error`.
 */
export function httpHandler(
  answer: () => HttpAnswer | Promise<HttpAnswer>,
  { name, logger }: HttpHandlerOptions,
): HttpHandler {
  const log = guardLogger(logger, ['error']);
  let failing = false;

  function failed(error: unknown): void {
    if (failing) return;
    failing = true;
    log.error(`${name} could not answer a request; further failures in a row are not logged`, { error });
  }

  /** Only what got out ends a row of failures. */
  function delivered({ answers }: Reply): void {
    if (answers) failing = false;
  }

  async function replyTo(method: string): Promise<Reply> {
    if (!METHODS.includes(method)) {
      const reply = replyOf(method, { status: 405, contentType: TEXT, body: 'only GET and HEAD\n' });
      return { ...reply, headers: { ...reply.headers, allow: METHODS.join(', ') }, answers: false };
    }
    try {
      return replyOf(method, await answer());
    } catch (error) {
      failed(error);
      const reply = replyOf(method, {
        status: 500,
        contentType: TEXT,
        body: 'no answer; the log says why\n',
      });
      return { ...reply, answers: false };
    }
  }

  function handle(request: NodeRequest, response: NodeResponse): void;
  function handle(request: Request): Promise<Response>;
  function handle(request: NodeRequest, response?: unknown): undefined | Promise<Response> {
    if (!isNodeResponse(response)) return webReply(request);
    replyTo(request.method ?? '')
      .then((reply) => {
        write(response, reply);
        delivered(reply);
      })
      .catch((error: unknown) => {
        // Whatever wraps the response (compression, sessions) may throw out of it, and nobody awaits a listener.
        failed(error);
        try {
          response.destroy?.();
        } catch {
          // It is in the log already, and there is nothing left to close.
        }
      });
    return undefined;
  }

  async function webReply(request: NodeRequest): Promise<Response> {
    const method: unknown = request?.method;
    if (typeof method !== 'string') {
      throw new ConfigurationError(
        `${name} must be called with a Request, or with the request and the response of node:http, not with ${shown(request)}`,
      );
    }
    const reply = await replyTo(method);
    const response = new Response(reply.body, { status: reply.status, headers: reply.headers });
    delivered(reply);
    return response;
  }

  return handle;
}

function replyOf(method: string, { status, contentType, body }: HttpAnswer): Reply {
  const bytes = new TextEncoder().encode(body);
  const headers = {
    'content-type': contentType,
    'content-length': String(bytes.byteLength),
    'cache-control': 'no-store',
  };
  return { status, headers, body: method === 'HEAD' ? undefined : bytes, answers: true };
}

/** Bun, Deno and Next hand over something of their own as the second argument, so its presence says nothing. */
function isNodeResponse(value: unknown): value is NodeResponse {
  if (typeof value !== 'object' || value === null) return false;
  const { writeHead, end } = value as Partial<NodeResponse>;
  return typeof writeHead === 'function' && typeof end === 'function';
}

/** Nothing where the client has gone, or where somebody else (a time-out of the framework) has answered it meanwhile. */
function write(response: NodeResponse, { status, headers, body }: Reply): void {
  if (response.headersSent || response.writableEnded || response.destroyed) return;
  response.writeHead(status, headers);
  response.end(body ?? NOTHING);
}
