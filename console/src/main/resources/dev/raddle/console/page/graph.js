// The graph of a run. It is laid out when its nodes or edges change, not when a state does.

import { html, useLayoutEffect, useMemo, useRef, useSignal } from './html.js';
import { Graph as Dagre, layout } from './vendor/dagre.js';
import { clipped, signOf, stateName } from './words.js';

const DRAWN = 300; // more nodes than this are a grid
const NAMED = 1000; // more nodes than this are cells without a name
const EDGES = 1500; // more edges than this are not drawn
const HIGH = 28;

const wide = text => [...text].reduce((sum, c) => sum + (c.codePointAt(0) > 0x2e7f ? 14 : 7.3), 0);
const sizeOf = label => Math.max(60, Math.min(260, wide(label) + 40));

function layered(ids, labels, edges) {
  const graph = new Dagre();
  graph.setGraph({ rankdir: 'LR', nodesep: 14, ranksep: 46, marginx: 8, marginy: 8 });
  graph.setDefaultEdgeLabel(() => ({}));
  ids.forEach((id, i) => graph.setNode('n' + i, { width: sizeOf(labels[i]), height: HIGH }));
  edges.forEach(([from, to]) => graph.setEdge('n' + from, 'n' + to));
  layout(graph);
  return {
    width: graph.graph().width, height: graph.graph().height,
    places: ids.map((id, i) => graph.node('n' + i)),
    paths: edges.map(([from, to, kind]) => ({ from, to, kind, points: graph.edge('n' + from, 'n' + to).points })),
  };
}

/** Returns the nodes in columns: each is to the right of what it depends on. */
function byDepth(ids, edges) {
  const out = ids.map(() => []), missing = ids.map(() => 0), depth = ids.map(() => 0);
  edges.forEach(([from, to]) => { out[from].push(to); missing[to]++; });
  const all = ids.map((id, i) => i), ready = all.filter(i => missing[i] === 0);
  for (const i of ready) {
    for (const to of out[i]) {
      depth[to] = Math.max(depth[to], depth[i] + 1);
      if (--missing[to] === 0) ready.push(to);
    }
  }
  const columns = [];
  all.forEach(i => (columns[depth[i]] ??= []).push(i));
  return columns.filter(Boolean);
}

/** Columns by depth; a column of more than twenty nodes becomes several. */
function grid(ids, labels, edges) {
  const places = [];
  let x = 8;
  for (const column of byDepth(ids, edges)) {
    for (let from = 0; from < (column.length); from += 20) {
      const part = column.slice(from, from + 20), width = Math.max(...part.map(i => sizeOf(labels[i])));
      part.forEach((i, row) => { places[i] = { x: x + width / 2, y: 22 + row * 36, width, height: HIGH }; });
      x += width + 20;
    }
    x += 26;
  }
  const paths = edges.length > EDGES ? [] : edges.map(([from, to, kind]) => ({ from, to, kind,
    points: [{ x: places[from].x + places[from].width / 2, y: places[from].y }, { x: places[to].x - places[to].width / 2, y: places[to].y }] }));
  return { width: x, height: Math.max(...places.map(place => place.y)) + 30, places, paths };
}

const lineOf = points => points.map((point, i) => (i ? 'L' : 'M') + point.x.toFixed(1) + ' ' + point.y.toFixed(1)).join('');

/** Nodes and edges; the critical path; the nodes that match a filter, or null. */
export function Graph({ nodes, edges, critical = [], matching, chosen, choose }) {
  return Object.keys(nodes).length > NAMED ? html`<${Cells} nodes=${nodes} edges=${edges} matching=${matching} choose=${choose}/>`
    : html`<${Drawing} nodes=${nodes} edges=${edges} critical=${critical} matching=${matching} chosen=${chosen} choose=${choose}/>`;
}

const CELL = 10;

/** A cell for each node, in columns by depth, or in the order of depths if there are many. The table has the same for the keyboard. */
function Cells({ nodes, edges, matching, choose }) {
  const zoom = useSignal(0), canvas = useRef(null), ids = useMemo(() => Object.keys(nodes), [nodes]), shape = ids.length + ' ' + edges.length;
  const { at, width, height } = useMemo(() => {
    const index = new Map(ids.map((id, i) => [id, i]));
    const columns = byDepth(ids, edges.filter(([from, to]) => index.has(from) && index.has(to)).map(([from, to]) => [index.get(from), index.get(to)]));
    const high = Math.max(20, Math.ceil(Math.sqrt(ids.length / 4)), Math.ceil(ids.length / 2000)), places = [];
    let x = 0;
    for (const column of columns.length > 400 ? [columns.flat()] : columns) { // a canvas has a greatest width
      column.forEach((i, n) => { places[i] = [x + Math.floor(n / high), n % high]; });
      x += Math.ceil(column.length / high) + 0.5;
    }
    return { at: places, width: x * CELL, height: high * CELL };
  }, [shape]);
  useLayoutEffect(() => {
    const context = canvas.current.getContext('2d'), style = getComputedStyle(canvas.current), colours = {};
    context.clearRect(0, 0, width, height);
    ids.forEach((id, i) => {
      const state = stateName(nodes[id].state);
      context.fillStyle = colours[state] ??= style.getPropertyValue('--' + state) || style.getPropertyValue(state === 'running' ? '--mark' : '--skipped');
      context.globalAlpha = matching && !matching.has(id) ? 0.2 : 1;
      context.fillRect(at[i][0] * CELL, at[i][1] * CELL, CELL - 2, CELL - 2);
    });
  });
  const scale = factor => { zoom.value = Math.max(0.1, Math.min(4, canvas.current.clientWidth / width * factor)); };
  const click = event => {
    const size = CELL * canvas.current.clientWidth / width, x = event.offsetX / size, y = event.offsetY / size;
    const found = at.findIndex(([left, top]) => x >= left && x < left + 1 && y >= top && y < top + 1);
    if (found >= 0) choose(ids[found]);
  };
  return html`<${Zoom} scale=${scale} fit=${() => { zoom.value = 0; }}/>
    <div class="graph cells" tabindex="0" role="region" aria-label="Cells of the nodes by depth"><canvas ref=${canvas} width=${width} height=${height}
      class=${zoom.value ? '' : 'fit'} style=${zoom.value ? { width: width * zoom.value + 'px' } : {}} aria-hidden="true" onClick=${click}/></div>`;
}

const Zoom = ({ scale, fit, children }) => html`<div class="bar">
  <button type="button" class="small" onClick=${() => scale(1.4)}>Zoom in</button>
  <button type="button" class="small" onClick=${() => scale(1 / 1.4)}>Zoom out</button>
  <button type="button" class="small" onClick=${fit}>Fit</button>${children}</div>`;

function Drawing({ nodes, edges, critical, matching, chosen, choose }) {
  const zoom = useSignal(0), active = useSignal(0), frame = useRef(null); // zoom 0: as wide as there is room
  const ids = Object.keys(nodes), shape = JSON.stringify([ids, edges]);
  const drawing = useMemo(() => {
    const labels = ids.map(id => clipped(id, 30)), index = new Map(ids.map((id, i) => [id, i]));
    const known = edges.filter(edge => index.has(edge[0]) && index.has(edge[1])).map(edge => [index.get(edge[0]), index.get(edge[1]), edge[2]]);
    return { labels, ...(ids.length > DRAWN ? grid : layered)(ids, labels, known) };
  }, [shape]);
  if (!ids.length) return html`<p class="dim">The nodes are not known.</p>`;

  const { places, width, height } = drawing, hot = new Set(critical.slice(1).map((id, i) => JSON.stringify([critical[i], id])));
  const scale = factor => { zoom.value = Math.max(0.1, Math.min(4, (zoom.value || Math.min(1, frame.current.clientWidth / width)) * factor)); };
  // The arrows move to the nearest node in their direction.
  const move = event => {
    const at = ids.indexOf(event.target.closest('[data-node]')?.dataset.node), here = places[at];
    const [dx, dy] = { ArrowLeft: [-1, 0], ArrowRight: [1, 0], ArrowUp: [0, -1], ArrowDown: [0, 1] }[event.key] || [0, 0];
    if (at < 0 || (dx === 0 && dy === 0)) {
      if (at >= 0 && event.key === 'Enter') choose(ids[at]);
      return;
    }
    event.preventDefault();
    let nearest = -1, least = Infinity;
    places.forEach((place, i) => {
      const along = (place.x - here.x) * dx + (place.y - here.y) * dy, across = Math.abs((place.x - here.x) * dy) + Math.abs((place.y - here.y) * dx);
      if (along > 1 && along + 3 * across < least) { least = along + 3 * across; nearest = i; }
    });
    if (nearest >= 0) {
      active.value = nearest;
      frame.current.querySelectorAll('[data-node]')[nearest].focus();
    }
  };
  const first = Math.min(active.value, ids.length - 1);
  return html`<${Zoom} scale=${scale} fit=${() => { zoom.value = 0; }}>
      ${drawing.paths.length === 0 && edges.length > 0 && html`<span class="dim">Too many edges to draw.</span>`}<//>
    <div class="graph" ref=${frame}>
      <svg role="group" aria-label="Graph of the nodes; the arrows move between them" viewBox=${'0 0 ' + width + ' ' + height}
        class=${zoom.value ? '' : 'fit'} width=${zoom.value ? width * zoom.value : width} height=${zoom.value ? height * zoom.value : undefined} onKeyDown=${move}>
        <defs><marker id="tip" viewBox="0 0 8 8" refX="8" refY="4" markerUnits="userSpaceOnUse" markerWidth="9" markerHeight="9" orient="auto"><path class="tip" d="M0 0L8 4L0 8z"/></marker></defs>
        ${drawing.paths.map(path => html`<path key=${path.from + '>' + path.to} class=${'edge' + (path.kind && path.kind !== 'must' ? ' soft' : '') + (hot.has(JSON.stringify([ids[path.from], ids[path.to]])) ? ' critical' : '')}
          d=${lineOf(path.points)} marker-end="url(#tip)"><title>${clipped(ids[path.from], 60)} → ${clipped(ids[path.to], 60)} (${path.kind})</title></path>`)}
        ${ids.map((id, i) => html`<${Box} key=${id} id=${id} label=${drawing.labels[i]} place=${places[i]} state=${stateName(nodes[id].state)}
          faint=${Boolean(matching) && !matching.has(id)} chosen=${id === chosen} tab=${i === first ? 0 : -1} choose=${choose}/>`)}
      </svg></div>`;
}

function Box({ id, label, place, state, faint, chosen, tab, choose }) {
  const x = place.x - place.width / 2, y = place.y - place.height / 2;
  return html`<g class=${'node s-' + state + (faint ? ' faint' : '') + (chosen ? ' chosen' : '')} role="button" tabindex=${tab}
    data-node=${id} aria-label=${clipped(id, 200) + ', ' + state.replace('-', ' ')} aria-pressed=${String(chosen)} onClick=${() => choose(id)}>
    <title>${clipped(id, 200)}: ${state.replace('-', ' ')}</title>
    <rect class="box" x=${x} y=${y} width=${place.width} height=${place.height} rx="5"/>
    <rect class=${'fill-' + state} x=${x} y=${y} width="6" height=${place.height} rx="2"/>
    <text x=${x + 13} y=${place.y + 4}><tspan class="sign">${signOf(state)}</tspan> ${label}</text></g>`;
}
