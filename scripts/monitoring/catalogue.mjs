// The metrics and their names in Prometheus, as the contract has them.
import { readFileSync } from 'node:fs';

/** @typedef {'text' | 'openmetrics' | 'opentelemetry' | 'otlp'} Spelling */

/**
 * @typedef {object} Metric
 * @property {'counter' | 'gauge' | 'distribution'} kind
 * @property {string} unit
 * @property {readonly string[]} labels
 * @property {Readonly<Record<string, readonly string[]>>} values those of the labels that have a closed list
 * @property {Readonly<Record<Spelling, string>>} spellings
 * @property {string} help
 */

/**
 * Which names an expression has to match.
 * @typedef {object} Naming
 * @property {Spelling | 'all'} spelling
 * @property {string} [namespace] what the exporter was told to put before every name
 */

const file = new URL('../../contract-fixtures/telemetry.json', import.meta.url);

/** @type {Readonly<Record<string, Metric>>} */
export const metrics = JSON.parse(readFileSync(file, 'utf8')).metrics;

/** @type {readonly Spelling[]} */
export const spellings = ['text', 'openmetrics', 'opentelemetry', 'otlp'];

/**
 * The names of a metric, without `_count` and `_sum`: each once, however many spellings share it.
 * @param {string} metric
 * @param {Naming} naming
 * @returns {string[]}
 * @throws {Error} for a metric that the contract does not have
 */
export function namesOf(metric, { spelling, namespace }) {
  const found = metrics[metric];
  if (found === undefined) throw new Error(`The contract has no metric ${metric}.`);
  const names =
    spelling === 'all' ? spellings.map((one) => found.spellings[one]) : [found.spellings[spelling]];
  return [...new Set(names)].map((name) => (namespace === undefined ? name : `${namespace}_${name}`));
}
