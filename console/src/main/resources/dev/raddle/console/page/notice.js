// A sentence that is shown for some seconds.

import { signal } from './html.js';

export const notice = signal(null);
