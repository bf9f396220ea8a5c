// The dashboard, as Grafana imports it.

import { namesOf } from './catalogue.mjs';
import { rows } from './panels.mjs';

/** @typedef {import('./catalogue.mjs').Naming} Naming */
/** @typedef {import('./panels.mjs').Panel} Panel */
/** @typedef {{ x: number, y: number, w: number, h: number }} Place */

/** Grafana's grid. */
const WIDTH = 24;
const DATASOURCE = { type: 'prometheus', uid: '$datasource' };
/** A metric of each kind of service, by which the values of the variables are found. */
const FOUND_BY = ['acemq.publish.total', 'acemq.consume.total', 'acemq.request.total', 'acemq.outbox.total'];

/**
 * The text of the dashboard.
 * @param {Naming} naming
 * @returns {string}
 */
export function dashboardText(naming) {
  return `${JSON.stringify(dashboard(naming), null, 2)}\n`;
}

/** @param {Naming} naming */
function dashboard(naming) {
  return {
    uid: 'acemq',
    title: 'AceMQ',
    description:
      'Publishing, consuming, retries, requests, outbox and pipelines of the services that use AceMQ.',
    tags: ['acemq', 'rabbitmq'],
    schemaVersion: 39,
    version: 1,
    editable: true,
    graphTooltip: 1,
    refresh: '30s',
    timezone: 'browser',
    time: { from: 'now-3h', to: 'now' },
    templating: { list: variables(naming) },
    annotations: { list: [] },
    links: [],
    panels: placed(naming),
  };
}

/** @param {Naming} naming */
function variables(naming) {
  const names = FOUND_BY.flatMap((metric) => namesOf(metric, naming));
  const services = `{__name__=~"${[...new Set(names)].join('|')}"}`;
  const [consumed = ''] = namesOf('acemq.consume.total', naming);
  return [
    {
      name: 'datasource',
      label: 'Data source',
      type: 'datasource',
      query: 'prometheus',
      current: {},
      hide: 0,
    },
    choice('namespace', 'Namespace', `label_values(${services}, namespace)`),
    choice('job', 'Job', `label_values(${services}, job)`),
    choice('queue', 'Queue', `label_values(${consumed}{job=~"$job"}, queue)`),
  ];
}

/**
 * A variable of which several values, or all, may be chosen. All is `.*`, which series without the label match as well.
 * @param {string} name
 * @param {string} label
 * @param {string} query
 */
function choice(name, label, query) {
  return {
    name,
    label,
    type: 'query',
    datasource: DATASOURCE,
    query: { query, refId: name },
    definition: query,
    refresh: 2,
    sort: 1,
    multi: true,
    includeAll: true,
    allValue: '.*',
    current: { selected: true, text: ['All'], value: ['$__all'] },
    hide: 0,
  };
}

/** @param {Naming} naming */
function placed(naming) {
  let id = 0;
  let y = 0;
  const list = [];
  for (const row of rows) {
    list.push({
      id: ++id,
      type: 'row',
      title: row.title,
      collapsed: false,
      gridPos: { x: 0, y: y++, w: WIDTH, h: 1 },
      panels: [],
    });
    const w = Math.floor(WIDTH / Math.min(row.panels.length, 4));
    const h = row.panels.every(({ kind }) => kind === 'stat') ? 4 : 8;
    row.panels.forEach((panel, index) => {
      list.push(drawn(panel, ++id, { x: index * w, y, w, h }, naming));
    });
    y += h;
  }
  return list;
}

/**
 * @param {Panel} panel
 * @param {number} id
 * @param {Place} gridPos
 * @param {Naming} naming
 */
function drawn(panel, id, gridPos, naming) {
  const single = panel.kind === 'stat';
  return {
    id,
    type: single ? 'stat' : 'timeseries',
    title: panel.title,
    description: panel.description,
    datasource: DATASOURCE,
    gridPos,
    fieldConfig: { defaults: defaults(panel), overrides: [] },
    options: single
      ? {
          reduceOptions: { calcs: ['lastNotNull'], fields: '', values: false },
          colorMode: 'value',
          graphMode: 'none',
          textMode: 'value',
        }
      : {
          legend: { displayMode: 'table', placement: 'bottom', calcs: ['lastNotNull', 'max'] },
          tooltip: { mode: 'multi', sort: 'desc' },
        },
    targets: [
      {
        refId: 'A',
        datasource: DATASOURCE,
        editorMode: 'code',
        expr: panel.expression(naming),
        legendFormat: panel.legend,
        instant: single,
        range: !single,
      },
    ],
  };
}

/** @param {Panel} panel */
function defaults({ unit, kind, thresholds, stacked, counts }) {
  /** @type {{ color: string, value: number | null }[]} */
  const steps = [{ color: 'green', value: null }];
  if (thresholds !== undefined) {
    steps.push({ color: 'orange', value: thresholds.warning });
    if (thresholds.critical !== undefined) steps.push({ color: 'red', value: thresholds.critical });
  }
  const base = {
    unit,
    min: 0,
    ...(kind === 'stat' || counts === true ? { decimals: 0 } : {}),
    thresholds: { mode: 'absolute', steps },
  };
  if (kind === 'stat') return { ...base, noValue: '0', color: { mode: 'thresholds' } };
  return {
    ...base,
    color: { mode: 'palette-classic' },
    custom: {
      drawStyle: counts === true ? 'bars' : 'line',
      fillOpacity: stacked === true ? 20 : counts === true ? 60 : 0,
      lineWidth: 1,
      showPoints: 'auto',
      spanNulls: false,
      stacking: { mode: stacked === true ? 'normal' : 'none', group: 'A' },
      thresholdsStyle: { mode: thresholds === undefined ? 'off' : 'dashed' },
    },
  };
}
