import { connect as connectTcp, isIP, type Socket } from 'node:net';
import { connect as connectTls } from 'node:tls';
import type { Endpoint } from './endpoints.ts';
import type { Credentials, TlsSettings } from './options.ts';
import type { Reply } from './refusal.ts';

/** The same connection that was closed in place of opening its vhost. */
export interface OpenRequest {
  readonly endpoint: Endpoint;
  readonly tls: TlsSettings | undefined;
  readonly login: Credentials;
  readonly vhost: string;
  /** Ends the question. */
  readonly signal: AbortSignal;
}

/** Methods of the handshake (AMQP 0-9-1, class 10), as class and method in one number. */
const START = 0x0a000a;
const START_OK = 0x0a000b;
const TUNE = 0x0a001e;
const TUNE_OK = 0x0a001f;
const OPEN = 0x0a0028;
const CLOSE = 0x0a0032;
const CLOSE_OK = 0x0a0033;

const PROTOCOL_HEADER = Buffer.from('AMQP\0\0\x09\x01', 'latin1');
const METHOD_FRAME = 1;
const FRAME_END = 206;

/** Type, channel and size before the payload, and one byte after it. */
const FRAME_HEAD = 7;
const FRAME_AROUND = 8;

/** More than any handshake takes. */
const MOST_BYTES = 131_072;

/**
 * Asks why the broker does not open a vhost: one more handshake, of which only the answer is wanted. amqplib
 * reports this refusal without its code and words, and they decide whether trying again can help: `530 vhost
 * 'x' not found` is a refusal, `541 vhost 'x' is down` is not. `undefined` when this time there was no such
 * answer; never rejects.
 */
export function replyAtOpen(request: OpenRequest): Promise<Reply | undefined> {
  return new Promise((resolve) => {
    const socket = openSocket(request);
    let rest: Buffer = Buffer.alloc(0);
    let reply: Reply | undefined;
    socket.on('data', (bytes: Buffer) => {
      rest = Buffer.concat([rest, bytes]);
      for (;;) {
        const payload = firstPayload(rest);
        if (payload === undefined) break;
        rest = rest.subarray(payload.length + FRAME_AROUND);
        const answer = answerTo(payload, request);
        if (answer.length > 0) socket.write(answer);
        reply = readClose(payload);
        if (reply !== undefined || answer.length === 0) socket.end();
      }
      if (rest.length > MOST_BYTES) socket.destroy();
    });
    // Whatever ends the socket, an abort included, ends the question; that it failed says nothing about the
    // first one.
    socket.on('error', () => {});
    socket.on('close', () => resolve(reply));
    socket.write(PROTOCOL_HEADER);
  });
}

function openSocket({ endpoint, tls, signal }: OpenRequest): Socket {
  const { host, port, secure } = endpoint;
  if (!secure) return connectTcp({ host, port, signal });
  // A certificate is asked for by name only (RFC 6066, 3).
  const options = { ...(isIP(host) === 0 ? { servername: host } : {}), ...tls, host, port, signal };
  return connectTls(options);
}

/** The payload of the first frame, once all of it is here. */
function firstPayload(bytes: Buffer): Buffer | undefined {
  if (bytes.length < FRAME_HEAD) return undefined;
  const size = bytes.readUInt32BE(3);
  return bytes.length < size + FRAME_AROUND ? undefined : bytes.subarray(FRAME_HEAD, FRAME_HEAD + size);
}

function methodOf(payload: Buffer): number {
  return payload.length < 4 ? 0 : payload.readUInt16BE(0) * 0x10000 + payload.readUInt16BE(2);
}

/** What the client says next in the handshake; nothing at its end, whichever it is. */
function answerTo(payload: Buffer, { login, vhost }: OpenRequest): Buffer {
  switch (methodOf(payload)) {
    case START: {
      const response = longText(`\0${login.username}\0${login.password}`);
      const noProperties = Buffer.alloc(4);
      return frame(START_OK, Buffer.concat([noProperties, shortText('PLAIN'), response, shortText('en_US')]));
    }
    case TUNE:
      // The broker's own limits back, and no heartbeat.
      return Buffer.concat([
        frame(TUNE_OK, Buffer.concat([payload.subarray(4, 10), Buffer.alloc(2)])),
        frame(OPEN, Buffer.concat([shortText(vhost), Buffer.alloc(2)])),
      ]);
    case CLOSE:
      return frame(CLOSE_OK, Buffer.alloc(0));
    default:
      return Buffer.alloc(0);
  }
}

function readClose(payload: Buffer): Reply | undefined {
  if (methodOf(payload) !== CLOSE || payload.length < 7) return undefined;
  const length = payload.readUInt8(6);
  return { code: payload.readUInt16BE(4), text: payload.toString('utf8', 7, 7 + length) };
}

function frame(method: number, args: Buffer): Buffer {
  const bytes = Buffer.alloc(FRAME_AROUND + 4 + args.length);
  bytes.writeUInt8(METHOD_FRAME, 0);
  bytes.writeUInt32BE(4 + args.length, 3);
  bytes.writeUInt32BE(method, FRAME_HEAD);
  args.copy(bytes, FRAME_HEAD + 4);
  bytes.writeUInt8(FRAME_END, bytes.length - 1);
  return bytes;
}

function shortText(text: string): Buffer {
  const bytes = Buffer.from(text);
  return Buffer.concat([Buffer.from([bytes.length]), bytes]);
}

function longText(text: string): Buffer {
  const bytes = Buffer.from(text);
  const length = Buffer.alloc(4);
  length.writeUInt32BE(bytes.length);
  return Buffer.concat([length, bytes]);
}
