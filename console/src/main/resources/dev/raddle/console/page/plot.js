// The last minutes of a group as curves.

import { html, useEffect, useRef } from './html.js';
import uPlot from './vendor/uPlot.js';
import { count, moment } from './words.js';

const SHORTEST = 60; // seconds
const STEPS = [5, 10, 15, 30, 60, 120];

const colour = name => getComputedStyle(document.documentElement).getPropertyValue('--' + name).trim();
const dark = matchMedia('(prefers-color-scheme: dark)');

function draw(element, data) {
  const axis = { stroke: colour('dim'), grid: { stroke: colour('line'), width: 0.5 }, ticks: { stroke: colour('line'), width: 0.5 } };
  const curve = (label, name, dash) => ({ label, stroke: colour(name), width: 1.5, dash, points: { show: false },
    value: (plot, number, series) => count(number ?? plot.data[series].at(-1)) }); // the last one unless the pointer is at another
  return new uPlot({
    width: Math.max(200, element.clientWidth), height: 170, legend: { show: true }, cursor: { drag: { x: false, y: false } },
    padding: [10, 36, 0, 0],
    scales: { x: { range: (plot, least, most) => [Math.min(least, most - SHORTEST), most] }, y: { range: (plot, least, most) => [0, Math.max(1, most * 1.05)] } },
    axes: [{ ...axis, space: 90, incrs: STEPS, values: (plot, splits) => splits.map(at => moment(at * 1000)) }, { ...axis, size: 60 }],
    series: [{ label: 'at', value: (plot, at) => moment((at ?? plot.data[0].at(-1)) * 1000) }, curve('waiting', 'warn'), curve('running', 'succeeded'), ...data.length > 3 ? [curve('starts each second', 'mark', [4, 3])] : []],
  }, data, element);
}

const dataOf = series => [series.seconds.map(at => at / 1000), series.waiting, series.running, ...series.starts ? [series.starts] : []];

export function Plot({ series }) {
  const element = useRef(null), plot = useRef(null), latest = useRef(series), known = series?.seconds?.length > 1;
  latest.current = series;
  useEffect(() => {
    const here = element.current;
    if (!here) return undefined;
    const renew = () => {
      plot.current?.destroy();
      plot.current = draw(here, dataOf(latest.current));
    };
    const resized = new ResizeObserver(() => plot.current?.setSize({ width: Math.max(200, here.clientWidth), height: 170 }));
    renew();
    resized.observe(here);
    dark.addEventListener('change', renew);
    return () => {
      resized.disconnect();
      dark.removeEventListener('change', renew);
      plot.current.destroy();
      plot.current = null;
    };
  }, [known]);
  useEffect(() => { if (known) plot.current?.setData(dataOf(series)); }, [series]);
  if (!known) return html`<p class="dim">Curves of the first 1,000 groups appear some seconds after a page has looked at them.</p>`;
  const last = list => list.at(-1) ?? 0, most = list => Math.max(...list.map(Number));
  return html`<figure role="img" aria-label=${'Curves since ' + moment(series.seconds[0]) + ': at most ' + most(series.waiting) + ' waiting and '
    + most(series.running) + ' running; now ' + last(series.waiting) + ' and ' + last(series.running)}><div aria-hidden="true" ref=${element}></div></figure>`;
}
