// What every other module needs of the libraries.

import { h } from './vendor/preact.js';
import htm from './vendor/htm.js';

export const html = htm.bind(h);
export { render } from './vendor/preact.js';
export { useEffect, useLayoutEffect, useMemo, useRef } from './vendor/hooks.js';
export { batch, computed, effect, signal, useSignal } from './vendor/signals.js';
