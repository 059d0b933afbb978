"""Encrypts every object of a generated tree, as Armadillo does, with the Salsa20 of the generator and none of pakrat's.

    encrypt-tree.py PATH/TO/gencdn.py TREE CDN_PATH KEY_NAME KEY_HEX

The product config gets the name of the key, and with it another hash; the version tables get that hash.
"""
import hashlib, importlib.util, json, os, sys

sys.dont_write_bytecode = True
tool, tree, cdn_path, key_name, key_hex = sys.argv[1:6]
spec = importlib.util.spec_from_file_location('gencdn', tool)
gencdn = importlib.util.module_from_spec(spec)
spec.loader.exec_module(gencdn)
www = os.path.join(tree, 'www')
key = bytes.fromhex(key_hex)

for folder in ('config', 'data', 'patch'):
    for at, _, names in os.walk(os.path.join(www, cdn_path, folder)):
        for name in names:
            path = os.path.join(at, name)
            nonce = bytes.fromhex(name[:32])[8:]
            plain = open(path, 'rb').read()
            open(path, 'wb').write(gencdn.salsa20(key, nonce, plain))

renamed = {}
configs = os.path.join(www, 'tpr/configs/data')
for at, _, names in os.walk(configs):
    for name in names:
        config = json.load(open(os.path.join(at, name)))
        config['all']['config']['decryption_key_name'] = key_name
        body = json.dumps(config).encode()
        renamed[name] = hashlib.md5(body).hexdigest()
        target = os.path.join(configs, renamed[name][:2], renamed[name][2:4])
        os.makedirs(target, exist_ok=True)
        open(os.path.join(target, renamed[name]), 'wb').write(body)
for at, _, names in os.walk(www):
    if 'versions' in names:
        path = os.path.join(at, 'versions')
        text = open(path).read()
        for old, new in renamed.items():
            text = text.replace(old, new)
        open(path, 'w').write(text)
