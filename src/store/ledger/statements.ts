/** Adds a build, or renews what is known of it; counts and selection stay. */
export const addBuildSql = `
INSERT INTO builds (product, name, build_id, build_config, cdn_config, product_config, key_ring, region, cdn_path, config_path, hosts, time)
VALUES (@product, @name, @buildId, @buildConfig, @cdnConfig, @productConfig, @keyRing, @region, @cdnPath, @configPath, @hosts, @time)
ON CONFLICT (product, build_config) DO UPDATE SET name = excluded.name, build_id = excluded.build_id, cdn_config = excluded.cdn_config,
  product_config = excluded.product_config, key_ring = excluded.key_ring, region = excluded.region, cdn_path = excluded.cdn_path,
  config_path = excluded.config_path, hosts = excluded.hosts, time = excluded.time`;

/** Pins the build of a product and a build config, at a time. */
export const addPinSql = 'INSERT INTO pins (product, build_config, time) VALUES (?, ?, ?) ON CONFLICT DO NOTHING';

/** Adds a build to those that were forgotten. */
export const addForgottenSql = `
INSERT INTO forgotten (product, name, build_config, cdn_config, cdn_path, config_path, time)
VALUES (@product, @name, @buildConfig, @cdnConfig, @cdnPath, @configPath, @time)
ON CONFLICT DO UPDATE SET time = excluded.time, cdn_config = excluded.cdn_config, cdn_path = excluded.cdn_path`;
