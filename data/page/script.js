// The pages work without it. It renews what is fetched now as that changes, ticks several boxes at once, and lets `/` go to the search.
const live = document.getElementById('fetching');
if (live) {
  const events = new EventSource(live.dataset.events);
  events.onmessage = ({ data }) => {
    // The server made it, with every name in it escaped.
    if (!live.contains(document.activeElement)) live.innerHTML = data;
  };
  addEventListener('pagehide', () => events.close());
}

let last;
document.addEventListener('click', (event) => {
  const box = event.target;
  if (!(box instanceof HTMLInputElement) || box.type !== 'checkbox') return;
  const boxes = [...document.querySelectorAll('input[type=checkbox]')];
  const [from, to] = [boxes.indexOf(last), boxes.indexOf(box)].sort((a, b) => a - b);
  if (event.shiftKey && from >= 0) for (const one of boxes.slice(from, to + 1)) one.checked = box.checked;
  last = box;
});

document.addEventListener('keydown', (event) => {
  const isTyping = /^(input|select|textarea)$/i.test(event.target.tagName);
  const search = document.querySelector('input[type=search]');
  if (event.key !== '/' || isTyping || event.ctrlKey || event.metaKey || event.altKey || !search) return;
  event.preventDefault();
  search.select();
  search.focus();
});
