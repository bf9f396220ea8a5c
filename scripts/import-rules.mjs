// Who may know whom. Arrows never turn back; adapters are installed and versioned on their own.

/**
 * What the sources of a package may import from its siblings. An arrow carries on: who may know amqp may know what amqp
 * knows.
 * @type {Readonly<Record<string, readonly string[]>>}
 */
export const arrows = {
  core: [],
  observe: ['core'],
  health: ['core'],
  amqp: ['core', 'observe', 'health'],
  testing: ['core'],
  patterns: ['amqp'],
  cli: ['patterns', 'terminal'],
  prometheus: ['core', 'observe'],
  otel: ['core', 'observe'],
  sql: ['core'],
  outbox: ['core', 'observe', 'sql'],
  inbox: ['core', 'sql'],
  backlog: ['core', 'observe', 'terminal'],
  terminal: ['core'],
};

/** What is not published: its sources become a part of what imports them. */
export const bundled = ['terminal'];

/** Packages that run anywhere: no module of Node, nothing from npm. */
export const purePackages = ['core', 'observe', 'health'];

/** The one folder that may import a module from npm, for modules that are kept behind a port. */
export const fences = [{ module: 'amqplib', folder: 'packages/amqp/src/amqplib/' }];

/**
 * Every sibling that a package may know.
 * @param {string} name
 * @returns {Set<string>}
 */
export function mayKnow(name) {
  const known = new Set(arrows[name]);
  for (const next of known) for (const further of arrows[next] ?? []) known.add(further);
  return known;
}
