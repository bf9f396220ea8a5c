// What the rules and the dashboard ask, for the names that they are to match.
import { namesOf } from './catalogue.mjs';

/** @typedef {import('./catalogue.mjs').Naming} Naming */

/**
 * One number of a metric: a counter or a gauge by its name, a distribution as what was counted or summed.
 * @typedef {object} Series
 * @property {string} metric
 * @property {'_count' | '_sum'} [part]
 * @property {string} [where] label matchers, without the braces
 */

/**
 * The series under each of their names.
 * @param {Series} series
 * @param {Naming} naming
 * @returns {string[]}
 */
export function selectors({ metric, part = undefined, where = '' }, naming) {
  return namesOf(metric, naming).map((name) => `${name}${part ?? ''}${where === '' ? '' : `{${where}}`}`);
}

/**
 * By how much each series has grown. `increase` does not see the first sample of a series, and a counter of rare things is
 * not there before they happen: one that is new in the window has grown by what it says. Resets are the business of
 * `increase`. One expression a line, to be joined by {@link any}.
 * @param {Series} series
 * @param {string} window
 * @param {Naming} naming
 * @returns {string[]}
 */
export function growth(series, window, naming) {
  return selectors(series, naming).flatMap((one) => [
    `(${one} > 0 unless ${one} offset ${window})`,
    `increase(${one}[${window}])`,
  ]);
}

/**
 * The same for a number that moves all the time, by the second.
 * @param {Series} series
 * @param {string} window
 * @param {Naming} naming
 * @returns {string[]}
 */
export function rate(series, window, naming) {
  return selectors(series, naming).map((one) => `rate(${one}[${window}])`);
}

/**
 * An aggregation over whichever of the expressions has an answer. They are added up inside it, so that a service with one
 * spelling does not hide another with the next.
 * @param {string} how such as `sum by (queue)`
 * @param {readonly string[]} terms
 * @returns {string}
 */
export function any(how, terms) {
  if (terms.length === 1) return `${how} (${terms[0]})`;
  return `${how} (\n  ${terms.join('\n  or ')}\n)`;
}
