import { describe, expect, test } from '@jest/globals';
import { decodeProductConfig, encodeProductConfig } from '../../../src/formats/configs/product-config.ts';
import { expectHostileSafe } from '../../support/hostile.ts';
import { codeThrownBy, htmlPage, text } from '../text.ts';

const json = text(
  '{"all":{"config":{"product":"Fenris","data_dir":"Data/","decryption_key_name":"fenrisdev","supported_locales":["enUS"],"tags":["OSX",1]}},"platform":{}}',
);

describe('a product config', () => {
  test('tells the product, its data folder, its key and its locales', () => {
    expect(decodeProductConfig(json)).toMatchObject({
      product: 'Fenris',
      dataDir: 'Data/',
      decryptionKeyName: 'fenrisdev',
      supportedLocales: ['enUS'],
      tags: ['OSX'],
      json: { platform: {} },
    });
  });

  test('comes back byte for byte when it is compact, else with the same members', () => {
    expect(encodeProductConfig(decodeProductConfig(json))).toEqual(json);
    const spaced = text('{ "all": {\n "config": { "product": "Größe", "tags": [] } },', ' "b": 1, "a": null }');
    expect(new TextDecoder().decode(encodeProductConfig(decodeProductConfig(spaced)))).toBe(
      '{"all":{"config":{"product":"Größe","tags":[]}},"b":1,"a":null}',
    );
  });

  test('may lack all of it, or have it of other types', () => {
    for (const bare of ['{}', '{"all":[]}', '{"all":{"config":{"product":3,"tags":"x"}}}']) {
      expect(decodeProductConfig(text(bare))).toMatchObject({ product: undefined, supportedLocales: [], tags: [] });
    }
  });

  test('is refused when it is no JSON object', () => {
    for (const bad of ['', '[1]', 'null', '"x"', '['.repeat(100_000)]) {
      expect(codeThrownBy(() => decodeProductConfig(text(bad)))).toBe('E_FORMAT');
    }
    expect(codeThrownBy(() => decodeProductConfig(htmlPage))).toBe('E_FORMAT');
    expectHostileSafe(decodeProductConfig, json);
  });
});
