import { expect, test } from 'vitest';
import { withVersion } from '../version.mjs';

test('the version that a source says is exchanged, and nothing else', () => {
  const source = "/** The version. */\nexport const VERSION = '0.0.0';\nexport const NAME = 'acemq';\n";
  expect(withVersion(source, '1.2.3')).toBe(source.replace('0.0.0', '1.2.3'));
});

test('a source that does not say its version once is refused, so that none is forgotten', () => {
  expect(() => withVersion("export const NAME = 'acemq';", '1.2.3')).toThrow('once');
});
