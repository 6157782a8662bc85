// What every other module needs of the libraries.

import { h, options } from './vendor/preact.js';
import htm from './vendor/htm.js';

export const html = htm.bind(h);
export { render } from './vendor/preact.js';
export { useEffect, useLayoutEffect, useMemo, useRef } from './vendor/hooks.js';
export { batch, effect, signal, useSignal } from './vendor/signals.js';

/*
 * Nothing is drawn while a pointer is pressed: a click is lost if what it aims at moves before the release.
 */

const LONGEST_PRESS = 30_000; // in case that the release is not reported
const TAP = 100; // the click of a finger comes some time after its release

let drawing = null, pressed = false, timer = 0;

options.debounceRendering = draw => {
  if (pressed) drawing = draw;
  else queueMicrotask(draw);
};

function press(time) {
  clearTimeout(timer);
  pressed = true;
  timer = setTimeout(release, time);
}

function release() {
  clearTimeout(timer);
  pressed = false;
  if (drawing) queueMicrotask(drawing);
  drawing = null;
}

addEventListener('pointerdown', event => { if (event.button === 0) press(LONGEST_PRESS); });
addEventListener('pointerup', () => { if (pressed) press(TAP); });
addEventListener('pointermove', event => { if (pressed && event.buttons === 0) release(); }); // as after that of a scroll bar
for (const end of ['click', 'pointercancel', 'blur']) addEventListener(end, release);
