import { isUtf8 } from 'node:buffer';
import type { Letter } from '@acemq/patterns/replay';
import { plainText } from '@acemq/terminal';

/** Bytes of a body that is no text, as far as they are shown. */
const MOST_BYTES = 256;
const BYTES_A_LINE = 16;

/** Whether a body is text, by its bytes and not by what it says it is. */
export function isText(body: Uint8Array): boolean {
  return isUtf8(body) && !Buffer.from(body.buffer, body.byteOffset, body.byteLength).includes(0);
}

/** A body for a person: JSON with its parts on lines of their own, text as it is, other bytes as numbers. */
export function bodyLines({ body }: Letter): string[] {
  if (body.byteLength === 0) return ['(empty)'];
  if (!isText(body)) return hexLines(body);
  const text = textOf(body);
  const lines = (pretty(text) ?? text).split('\n');
  return lines.map(plainText);
}

export function textOf(body: Uint8Array): string {
  return Buffer.from(body.buffer, body.byteOffset, body.byteLength).toString('utf8');
}

function pretty(text: string): string | undefined {
  try {
    const value: unknown = JSON.parse(text);
    // Numbers that JavaScript cannot hold would be shown as others.
    return typeof value === 'object' && !/\d{16}/.test(text) ? JSON.stringify(value, null, 2) : undefined;
  } catch {
    return undefined;
  }
}

function hexLines(body: Uint8Array): string[] {
  const lines: string[] = [];
  for (let at = 0; at < Math.min(body.byteLength, MOST_BYTES); at += BYTES_A_LINE) {
    const bytes = [...body.subarray(at, Math.min(at + BYTES_A_LINE, MOST_BYTES))];
    const hex = bytes.map((byte) => byte.toString(16).padStart(2, '0')).join(' ');
    const text = bytes.map((byte) => (byte >= 32 && byte < 127 ? String.fromCharCode(byte) : '.')).join('');
    lines.push(`${at.toString(16).padStart(4, '0')}  ${hex.padEnd(BYTES_A_LINE * 3 - 1)}  ${text}`);
  }
  if (body.byteLength > MOST_BYTES) lines.push(`… and ${body.byteLength - MOST_BYTES} bytes more`);
  return lines;
}
