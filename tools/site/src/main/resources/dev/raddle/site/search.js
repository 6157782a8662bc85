// Shows the sections that contain all words of the query, those with the words in their title first.
const sections = "{{sections}}";
const query = document.getElementById('query');
const found = document.getElementById('found');
const up = query.dataset.up;
const MOST = 12;

function matches(words) {
  const inTitle = [], inText = [];
  for (const [place, title, text] of sections) {
    const low = title.toLowerCase();
    const all = low + ' ' + text.toLowerCase();
    if (words.every(word => all.includes(word))) {
      (words.every(word => low.includes(word)) ? inTitle : inText).push([place, title, text]);
    }
  }
  return inTitle.concat(inText);
}

function excerpt(text, word) {
  const at = Math.max(0, text.toLowerCase().indexOf(word) - 60);
  return (at > 0 ? '…' : '') + text.slice(at, at + 160) + (at + 160 < text.length ? '…' : '');
}

query.addEventListener('input', () => {
  const words = query.value.toLowerCase().split(/\s+/).filter(word => word);
  found.replaceChildren();
  if (!words.length) return;
  const all = matches(words);
  for (const [place, title, text] of all.slice(0, MOST)) {
    const link = document.createElement('a');
    link.href = up + place;
    link.textContent = title + ' (' + place.replace(/\.html.*/, '') + ')';
    const part = document.createElement('p');
    part.textContent = excerpt(text, words[0]);
    const item = document.createElement('li');
    item.append(link, part);
    found.append(item);
  }
  if (all.length === 0 || all.length > MOST) {
    const item = document.createElement('li');
    item.textContent = all.length === 0 ? 'nothing found' : (all.length - MOST) + ' more';
    found.append(item);
  }
});

query.addEventListener('keydown', event => {
  if (event.key === 'Escape') {
    query.value = '';
    found.replaceChildren();
  }
});
document.addEventListener('keydown', event => {
  if (event.key === '/' && document.activeElement !== query) {
    event.preventDefault();
    query.focus();
  }
});
