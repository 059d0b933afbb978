// The same package, asked for as CommonJS does: prints what PAK and formats give.
const { openPakrat } = require('pakrat');
const { decodeBlte, encodeBlte } = require('pakrat/formats');
const { openPak } = require('pakrat/paks');
const { version } = require('pakrat/package.json');

async function main(path) {
  const pak = await openPak(path);
  const names = pak.entries.map(({ name }) => name);
  await pak.close();
  const pakrat = await openPakrat();
  const source = await pakrat.open(path);
  const text = Buffer.from(await source.bytes(names[0])).toString();
  await source.close();
  await pakrat.close();
  const decoded = Buffer.from(decodeBlte(encodeBlte(Buffer.from('CommonJS'), 'n').bytes)).toString();
  console.log(JSON.stringify({ version, names, text, decoded }));
}

main(process.argv[2]);
