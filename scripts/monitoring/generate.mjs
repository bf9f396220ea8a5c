// node scripts/monitoring/generate.mjs rules|dashboard: prints what an operator loads. With --write it writes the files in
// docs/ instead, which match every spelling.
import { writeFileSync } from 'node:fs';
import { pathToFileURL } from 'node:url';
import { parseArgs } from 'node:util';
import { spellings } from './catalogue.mjs';
import { dashboardText } from './dashboard.mjs';
import { rulesText } from './rules.mjs';

/** @typedef {import('./catalogue.mjs').Spelling} Spelling */

const HELP = `Usage: node scripts/monitoring/generate.mjs rules|dashboard [options]
       npm run alerts                (the same as --write)

Prints the alert rules for Prometheus, or the dashboard for Grafana.

  --spelling NAME   which names of the metrics are matched (default: all)
                      text           prometheusText, and the text format of the Prometheus clients
                      openmetrics    the Prometheus clients when they write OpenMetrics
                      opentelemetry  the Prometheus exporter of OpenTelemetry for JavaScript
                      otlp           OTLP into a collector or into Prometheus, with unit suffixes
                      all            whichever of them is there
  --namespace NAME  what the exporter puts before every name, without the underscore that follows
                    it (default: nothing)
  --docs PLACE      where the page about the alerts is read; each alert links to its section there
                    (default: docs/alerts.md)
  --write           writes docs/alerts/acemq.rules.yml and docs/dashboards/acemq.json, with the
                    defaults, and prints nothing; it takes no other option
  --help            prints this

Ends with 2 where an option cannot be used.
`;

const DOCS = 'docs/alerts.md';
const OPTIONS = /** @type {const} */ ({
  spelling: { type: 'string' },
  namespace: { type: 'string' },
  docs: { type: 'string' },
  write: { type: 'boolean' },
  help: { type: 'boolean', short: 'h' },
});

/** The files that are kept in the repository, and their texts. */
export const committed = [
  { file: 'docs/alerts/acemq.rules.yml', text: () => rulesText({ spelling: 'all', docs: DOCS }) },
  { file: 'docs/dashboards/acemq.json', text: () => dashboardText({ spelling: 'all' }) },
];

/**
 * What the command does: the text that it prints.
 * @param {readonly string[]} args
 * @returns {string}
 * @throws {Error} with one line for the user when an argument cannot be used
 */
export function answer(args) {
  const { values, positionals } = parseArgs({ args: [...args], options: OPTIONS, allowPositionals: true });
  if (values.help === true) return HELP;
  if (values.write === true) {
    if (positionals.length > 0 || Object.keys(values).length > 1) {
      throw new Error('--write writes the files of the repository, and takes nothing else.');
    }
    for (const { file, text } of committed) writeFileSync(new URL(`../../${file}`, import.meta.url), text());
    return '';
  }
  const [what, ...others] = positionals;
  if (others.length > 0 || (what !== 'rules' && what !== 'dashboard')) {
    throw new Error(`Say rules or dashboard${what === undefined ? '' : `, not "${positionals.join(' ')}"`}.`);
  }
  const naming = { spelling: spellingOf(values.spelling), ...namespaceOf(values.namespace) };
  return what === 'rules' ? rulesText({ ...naming, docs: values.docs ?? DOCS }) : dashboardText(naming);
}

/**
 * @param {string} [given]
 * @returns {Spelling | 'all'}
 */
function spellingOf(given = 'all') {
  const found = given === 'all' ? given : spellings.find((one) => one === given);
  if (found === undefined) {
    throw new Error(`--spelling is ${[...spellings, 'all'].join(', ')}, not "${given}".`);
  }
  return found;
}

/**
 * @param {string} [given]
 * @returns {{ namespace?: string }}
 */
function namespaceOf(given) {
  if (given === undefined) return {};
  if (!/^[a-zA-Z_][a-zA-Z0-9_]*$/.test(given)) {
    throw new Error(`--namespace is letters, digits and underscores, no digit first, and not "${given}".`);
  }
  return { namespace: given };
}

function main() {
  try {
    process.stdout.write(answer(process.argv.slice(2)));
  } catch (error) {
    console.error(error instanceof Error ? error.message : error);
    console.error('--help says how it is used.');
    process.exitCode = 2;
  }
}

if (import.meta.url === pathToFileURL(process.argv[1] ?? '').href) main();
