// The clock of the program.

import { signal } from './html.js';

/** The moment, in milliseconds since 1970. It advances each second while a program is connected. */
export const now = signal(Date.now());
