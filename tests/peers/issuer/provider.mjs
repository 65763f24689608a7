// A certified OpenID provider; lines on standard input change its keys and its people's groups.
import { createServer } from 'node:http';
import { generateKeyPairSync, randomUUID } from 'node:crypto';
import { createInterface } from 'node:readline';
import Provider from 'oidc-provider';

const [port, callback] = process.argv.slice(2);
const issuer = `http://127.0.0.1:${port}`;
const groups = { anna: ['bias-writers'], ben: ['bias-readers'] };
let lifetime = 3600;
let keys = [newKey()];
let provider = newProvider();

function newKey() {
  const { privateKey } = generateKeyPairSync('rsa', { modulusLength: 2048 });
  return { ...privateKey.export({ format: 'jwk' }), kid: randomUUID(), use: 'sig', alg: 'RS256' };
}

function account(context, accountId) {
  const email = `${accountId}@example.org`;
  const claims = { sub: accountId, email, email_verified: true, groups: groups[accountId] };
  return { accountId, claims: () => claims };
}

function deviceClient(client_id) {
  return {
    client_id,
    application_type: 'native',
    token_endpoint_auth_method: 'none',
    grant_types: ['refresh_token', 'urn:ietf:params:oauth:grant-type:device_code'],
    redirect_uris: [],
    response_types: [],
  };
}

function newProvider() {
  return new Provider(issuer, {
    clients: [
      { client_id: 'biaswatch', client_secret: 'of the pages', redirect_uris: [callback] },
      deviceClient('biaswatch-cli'),
      deviceClient('another'),
    ],
    claims: { openid: ['sub'], email: ['email', 'email_verified'], profile: ['groups'] },
    conformIdTokenClaims: false,
    cookies: { keys: ['of tests'] },
    features: { deviceFlow: { enabled: true }, revocation: { enabled: true } },
    findAccount: account,
    issueRefreshToken: () => true,
    jwks: { keys },
    ttl: { IdToken: () => lifetime },
  });
}

const changes = {
  groups: (name, ...named) => { groups[name] = named; },
  lifetime: (seconds) => { lifetime = Number(seconds); },
  rotate: () => { keys = [newKey(), ...keys]; provider = newProvider(); },
  withdraw: () => { keys = [newKey()]; provider = newProvider(); },
};
const server = createServer((request, response) => provider.callback()(request, response));
server.listen(Number(port), '127.0.0.1', () => {
  console.log('ready');
  createInterface({ input: process.stdin })
    .on('line', (line) => {
      const [name, ...words] = line.split(' ');
      changes[name](...words);
      console.log('done');
    })
    .on('close', () => process.exit(0));
});
