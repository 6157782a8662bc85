// What has waited, run and started, as curves.

import { html, useEffect, useRef } from './html.js';
import { Name } from './parts.js';
import uPlot from './vendor/uPlot.js';
import { count, moment } from './words.js';
import { changeText } from './incident.js';

const SHORTEST = 60; // seconds
const HEIGHT = 230;
const STEPS = [5, 10, 15, 30, 60, 120, 300, 600, 900];
const COUNTS = [1, 10, 100, 1e3, 1e4, 1e5, 1e6, 1e7].flatMap(step => [step, 2 * step, 5 * step]);

const colour = name => getComputedStyle(document.documentElement).getPropertyValue('--' + name).trim();
const dark = matchMedia('(prefers-color-scheme: dark)');

/** A moment without a sample is null, which is a gap in the curves. */
const latestOf = list => list.findLast(number => number != null);

function draw(element, data, changes) {
  const axis = { stroke: colour('dim'), grid: { stroke: colour('line'), width: 0.5 }, ticks: { stroke: colour('line'), width: 0.5 } };
  const curve = (label, scale, name, dash) => ({ label, scale, stroke: colour(name), width: 1.5, dash, points: { show: false },
    value: (plot, number, series) => count(number ?? (plot.cursor.idx == null ? latestOf(plot.data[series]) : null)) }); // the last one unless the pointer is at another
  // Waiting has the upper half and what runs the lower one, so that no curve covers another.
  const upper = (plot, least, most) => [-1, 1].map(side => side * Math.max(1, (most ?? 0) * 1.1)), lower = (...range) => [0, 2 * upper(...range)[1]];
  const splits = share => (plot, axis, least, most, step) => Array.from({ length: Math.floor(most * share / step) + 1 }, (none, i) => i * step);
  const mark = plot => {
    plot.ctx.save();
    plot.ctx.strokeStyle = colour('failed');
    plot.ctx.setLineDash([2, 3]);
    plot.ctx.beginPath();
    for (const { at } of changes.current) {
      const x = plot.valToPos(at / 1000, 'x', true);
      if (x < plot.bbox.left || x > plot.bbox.left + plot.bbox.width) continue;
      plot.ctx.moveTo(x, plot.bbox.top);
      plot.ctx.lineTo(x, plot.bbox.top + plot.bbox.height);
    }
    plot.ctx.stroke();
    plot.ctx.restore();
  };
  return new uPlot({
    width: Math.max(200, element.clientWidth), height: HEIGHT, legend: { show: true }, cursor: { drag: { x: false, y: false } },
    padding: [10, 8, 0, 0], hooks: { draw: [mark] },
    scales: { x: { range: (plot, least, most) => [Math.min(least, most - SHORTEST), most] }, waits: { range: upper }, runs: { range: lower } },
    axes: [{ ...axis, space: 90, incrs: STEPS, values: (plot, all) => all.map(at => moment(at * 1000)) },
      { ...axis, scale: 'waits', size: 60, incrs: COUNTS, splits: splits(1), label: 'waiting', labelSize: 16 }, { ...axis, scale: 'runs', side: 1, size: 60, incrs: COUNTS, splits: splits(1 / 2), label: 'running, starts', labelSize: 16 }],
    series: [{ label: 'at', value: (plot, at) => moment((at ?? plot.data[0].at(-1)) * 1000) }, curve('waiting', 'waits', 'warn'), curve('running', 'runs', 'succeeded'), ...data.length > 3 ? [curve('starts each second', 'runs', 'mark', [4, 3])] : []],
  }, data, element);
}

const GAP = 5_000; // of a shorter time without a sample nothing is seen

/** The columns of the curves. A time without samples is a gap, and the first number of starts after it is unknown. */
export function dataOf({ seconds, waiting, running, starts }) {
  const steps = seconds.slice(1).map((at, i) => at - seconds[i]), longest = Math.max(GAP, 3 * Math.min(...steps));
  const all = [[], [], [], ...starts ? [[]] : []], add = (...row) => all.forEach((column, i) => column.push(row[i]));
  seconds.forEach((at, i) => {
    const isAfterGap = i > 0 && at - seconds[i - 1] > longest;
    if (isAfterGap) add((at - 1) / 1000, null, null, null);
    add(at / 1000, waiting[i], running[i], isAfterGap ? null : starts?.[i]);
  });
  return all;
}

/** Changes are marks on the curves. */
export function Plot({ series, changes = [] }) {
  const element = useRef(null), plot = useRef(null), latest = useRef(series), marks = useRef(changes), known = series?.seconds?.length > 1;
  latest.current = series;
  marks.current = changes;
  useEffect(() => {
    const here = element.current;
    if (!here) return undefined;
    const renew = () => {
      plot.current?.destroy();
      plot.current = draw(here, dataOf(latest.current), marks);
    };
    const resized = new ResizeObserver(() => plot.current?.setSize({ width: Math.max(200, here.clientWidth), height: HEIGHT }));
    renew();
    resized.observe(here);
    dark.addEventListener('change', renew);
    return () => {
      resized.disconnect();
      dark.removeEventListener('change', renew);
      plot.current.destroy();
      plot.current = null;
    };
  }, [known, Boolean(series?.starts)]);
  useEffect(() => { if (known) plot.current?.setData(dataOf(series)); }, [series, changes.length]);
  if (!known) return html`<p class="dim">Curves of the first 1,000 groups appear some seconds after a page has looked at them.</p>`;
  const last = list => count(latestOf(list) ?? 0), most = list => count(Math.max(...list.map(Number)));
  const from = Math.min(series.seconds[0], series.seconds.at(-1) - 1000 * SHORTEST), shown = changes.filter(({ at }) => at >= from).slice(0, 5);
  return html`<figure role="img" aria-label=${'Curves since ' + moment(from) + ': at most ' + most(series.waiting) + ' waiting and '
    + most(series.running) + ' running; now ' + last(series.waiting) + ' and ' + last(series.running)
    + (shown.length ? '; changed at ' + shown.map(each => moment(each.at) + ': ' + each.what + ' ' + changeText(each)).join(', ') : '')}><div aria-hidden="true" ref=${element}></div>
    ${shown.map(each => html`<p key=${each.id} class="changed" aria-hidden="true">${each.what} of <${Name} text=${each.key ?? each.executor} most=${40}/> ${changeText(each)} <span class="dim">${moment(each.at)}</span></p>`)}</figure>`;
}
