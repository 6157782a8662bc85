// The page of a run that has ended, with its data inside: it is read from a disk, without a server.

import { now } from './clock.js';
import { html, render } from './html.js';
import { Run } from './run.js';

const data = JSON.parse(document.getElementById('data').textContent);
now.value = data.row.endedAt ?? now.value;
document.title = data.row.state + ' · ' + String(data.row.label || data.row.name).slice(0, 80) + ' · Raddle';
render(html`<main id="main"><${Run} data=${data}/></main>`, document.getElementById('page'));
