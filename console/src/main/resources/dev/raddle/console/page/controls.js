// Each change is confirmed in a dialog that says what it does.

import { html, signal, useLayoutEffect, useRef, useSignal } from './html.js';
import { notice } from './notice.js';
import { post } from './stream.js';

/** {title, text, verb, grave, request, field: {label, type, value, min, step, optional, read}}, or null. */
export const question = signal(null);

export function ask(what) {
  question.value = what;
}

export function Dialog() {
  return question.value && html`<${Question} what=${question.value}/>`;
}

function Question({ what }) {
  const dialog = useRef(null), field = useRef(null), problem = useSignal(null), busy = useSignal(false);
  useLayoutEffect(() => { dialog.current.showModal(); }, []);
  const submit = async event => {
    event.preventDefault();
    busy.value = true;
    const value = what.field ? { value: what.field.read(field.current.value) } : {};
    const answer = await post('api/control', { ...what.request, ...value });
    busy.value = false;
    if (answer.problem && dialog.current) {
      problem.value = answer.problem;
    } else { // or it was closed before the answer
      notice.value = answer.problem || answer.done;
      dialog.current?.close();
    }
  };
  return html`<dialog ref=${dialog} aria-labelledby="question" onClose=${() => { question.value = null; }}>
    <form onSubmit=${submit}>
      <h2 id="question"><bdi>${what.title}</bdi></h2>
      <p>${what.text}</p>
      ${what.field && html`<label>${what.field.label}<input ref=${field} type=${what.field.type} defaultValue=${String(what.field.value)}
        min=${what.field.min} step=${what.field.step} required=${!what.field.optional} autofocus/></label>`}
      ${problem.value && html`<p class="problem" role="alert">${problem.value}</p>`}
      <div class="bar end"><button type="button" class="small" onClick=${() => dialog.current.close()}>Keep as it is</button>
        <button type="submit" class=${'small main' + (what.grave ? ' grave' : '')} disabled=${busy.value}>${what.verb}</button></div>
    </form></dialog>`;
}
