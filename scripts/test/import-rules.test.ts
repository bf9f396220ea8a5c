import { describe, expect, test } from 'vitest';
import { circle, dependencyFaults, faultOf, importsOf } from '../check-imports.mjs';
import type { Manifest, Member } from '../workspace.mjs';

function member(folder: string, fields: Omit<Manifest, 'name'> = {}): Member {
  const name = `@acemq/${folder.split('/').at(-1)}`;
  return { folder, manifest: { name, exports: { '.': {} }, ...fields } };
}

const core = member('packages/core', { devDependencies: { '@acemq/testing': 'workspace:^' } });
const observe = member('packages/observe', { dependencies: { '@acemq/core': 'workspace:^', ms: '1.0.0' } });
const amqp = member('packages/amqp', {
  dependencies: { '@acemq/core': 'workspace:^', '@acemq/testing': 'workspace:^', amqplib: '2.3.1' },
});
const outbox = member('packages/outbox', { dependencies: { '@acemq/amqp': 'workspace:^' } });
const patterns = member('packages/patterns', {
  dependencies: { '@acemq/amqp': 'workspace:^', '@acemq/core': 'workspace:^' },
});
const testing = member('packages/testing', { dependencies: { '@acemq/core': 'workspace:^' } });
const orders = member('examples/orders', { dependencies: { '@acemq/amqp': 'workspace:^' } });
const members = [core, observe, amqp, outbox, patterns, testing, orders];

/** The fault of an import in a file, whose package is known by its folder. */
function fault(file: string, specifier: string): string | undefined {
  const owner = members.find(({ folder }) => file.startsWith(`${folder}/`));
  if (owner === undefined) throw new Error(`${file} belongs to no package.`);
  return faultOf(file, specifier, owner, members);
}

describe('who may import whom', () => {
  test.for([
    ['packages/observe/src/a.ts', '@acemq/core'],
    ['packages/patterns/src/a.ts', '@acemq/core'], // an arrow to amqp carries on to what amqp knows
    ['packages/amqp/src/amqplib/a.ts', 'amqplib'],
    ['packages/amqp/test/a.test.ts', 'amqplib'],
    ['packages/amqp/src/a.ts', 'node:os'],
    ['packages/core/test/a.test.ts', 'node:fs'],
    ['packages/core/test/a.test.ts', '@acemq/testing'],
    ['packages/core/test/a.test.ts', 'vitest'],
    ['packages/core/src/a.ts', './b.ts'],
    ['packages/core/test/a.test.ts', '../src/b.ts'],
    ['packages/core/tsup.config.ts', '../../tsup.base.ts'],
    ['examples/orders/src/a.ts', '@acemq/amqp'],
  ] as const)('%s may import %s', ([file, specifier]) => {
    expect(fault(file, specifier)).toBeUndefined();
  });

  test.for([
    ['packages/core/src/a.ts', '@acemq/observe', 'core may not know @acemq/observe'],
    ['packages/outbox/src/a.ts', '@acemq/amqp', 'outbox may not know @acemq/amqp'],
    ['packages/amqp/src/a.ts', '@acemq/testing', 'amqp may not know @acemq/testing'],
    ['packages/amqp/src/a.ts', 'amqplib', 'amqplib may be imported in packages/amqp/src/amqplib/ only'],
    ['packages/core/src/a.ts', 'node:fs', 'core is pure: it may not use a module of Node'],
    ['packages/core/src/a.ts', 'fs/promises', 'core is pure: it may not use a module of Node'],
    ['packages/amqp/src/a.ts', 'net', 'write node:net'],
    ['packages/observe/src/a.ts', 'ms', 'observe is pure: it may use nothing from npm'],
    ['packages/amqp/src/a.ts', 'vitest', 'vitest is not in the dependencies of @acemq/amqp'],
    ['packages/amqp/src/a.ts', '../../core/src/a.ts', 'a relative import may not leave its package'],
    ['packages/amqp/src/a.ts', '@acemq/core/src/a.ts', '@acemq/core does not export ./src/a.ts'],
    ['packages/amqp/src/a.ts', '@acemq/nobody', 'no package of the workspace is called @acemq/nobody'],
    [
      'examples/orders/src/a.ts',
      '@acemq/core',
      '@acemq/core is not in the dependencies or devDependencies of @acemq/orders',
    ],
  ] as const)('%s may not import %s', ([file, specifier, words]) => {
    expect(fault(file, specifier)).toBe(words);
  });

  test('every way to name a module is seen, with its line, and text that looks like one is not', () => {
    const text = [
      "import a from 'a';",
      "import type { B } from 'b';",
      "export { c } from 'c';",
      "// import d from 'd';",
      "const e = await import('e');",
      'const f = "import f from \'f\'";',
    ].join('\n');
    const found = importsOf(text).map(({ specifier, line }) => `${line}:${specifier}`);
    expect(found).toEqual(['1:a', '2:b', '3:c', '5:e']);
  });
});

describe('who may depend on whom', () => {
  test('a dependency against the arrows is refused', () => {
    expect(dependencyFaults(outbox)).toEqual(['outbox may not depend on @acemq/amqp']);
    expect(dependencyFaults(amqp)).toEqual(['amqp may not depend on @acemq/testing']);
  });

  test('a pure package has no dependency from npm', () => {
    expect(dependencyFaults(observe)).toEqual(['observe is pure: it may not depend on ms']);
  });

  test('a package without a rule is refused', () => {
    expect(dependencyFaults(member('packages/new'))).toEqual([
      'import-rules.mjs does not say whom new may know',
    ]);
  });

  test('a dependency for development closes a circle like any other', () => {
    expect(circle([core, testing])).toEqual(['@acemq/core', '@acemq/testing', '@acemq/core']);
    expect(circle([member('packages/core'), testing, orders, amqp])).toBeUndefined();
  });
});
