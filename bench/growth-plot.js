const [width, height] = [760, 460];
const box = { left: 70, right: 560, top: 30, bottom: 400 };
const colours = ['#1b6ca8', '#c0392b', '#2e8b57', '#b8860b', '#7d3c98', '#34495e'];

/**
 * A plot of costs on two logarithmic axes, as SVG. A dotted line grows as the entries do.
 * @param points in order; each has its number under `x`, and processor seconds under the name of each command
 */
export function growthPlot(points, commands, { x, start }) {
  const values = points.flatMap((point) => commands.map((command) => point[command]));
  const across = axis(
    points.map((point) => point[x]),
    [box.left, box.right],
  );
  const up = axis([...values, start], [box.bottom, box.top]);
  const [first, last] = [points[0][x], points.at(-1)[x]];
  const low = Math.min(...values);
  const lines = commands.map((command, i) => {
    const path = points.map((point) => `${across(point[x])},${up(point[command])}`).join(' ');
    const end = up(points.at(-1)[command]);
    return `<polyline fill="none" stroke="${colours[i]}" stroke-width="2" points="${path}"/>
<text x="${box.right + 8}" y="${end + 4}" fill="${colours[i]}">${command}</text>`;
  });
  const ticks = points.map((point) => text(across(point[x]), box.bottom + 20, point[x].toLocaleString('en'), 'middle'));
  const seconds = [0.1, 0.2, 0.5, 1, 2, 5, 10, 20, 50].filter((one) => up(one) <= box.bottom && up(one) >= box.top);
  const rules = seconds.map(
    (one) => `<line x1="${box.left}" x2="${box.right}" y1="${up(one)}" y2="${up(one)}" stroke="#ddd"/>
${text(box.left - 8, up(one) + 4, `${one} s`, 'end')}`,
  );
  const linear = [first, last].map((one) => `${across(one)},${up((low * one) / first)}`).join(' ');
  return `<svg xmlns="http://www.w3.org/2000/svg" width="${width}" height="${height}" font-family="sans-serif" font-size="12">
<title>processor time of commands by ${x}</title>
<rect width="${width}" height="${height}" fill="white"/>
${text(box.left, 18, `processor time by ${x}; dotted: as the ${x}; --version takes ${start.toFixed(2)} s`, 'start')}
${rules.join('\n')}
<polyline fill="none" stroke="#999" stroke-dasharray="2 4" points="${linear}"/>
${lines.join('\n')}
${ticks.join('\n')}
${text((box.left + box.right) / 2, box.bottom + 40, x, 'middle')}
</svg>
`;
}

/** The place of a number between two ends of a logarithmic axis, with some room. */
function axis(numbers, [from, to]) {
  const [least, most] = [Math.log(Math.min(...numbers) * 0.9), Math.log(Math.max(...numbers) * 1.1)];
  return (number) => Math.round(from + ((Math.log(number) - least) / (most - least)) * (to - from));
}

const text = (x, y, words, anchor) => `<text x="${x}" y="${y}" text-anchor="${anchor}">${words}</text>`;
