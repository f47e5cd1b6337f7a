import { randomBytes } from 'node:crypto';
import { text } from 'node:stream/consumers';
import { Provider, errors, type Configuration, type InteractionResults } from 'oidc-provider';
import { createMemoryAdapter } from 'oidc-provider/lib/adapters/memory_adapter.js';
import type { SigningKey } from '../../lib/issuer/issuer-keys.ts';
import { contentSecurityPolicy, messagePage, signInPage } from './pages.ts';
import {
  CLIENT_ID,
  DEMO_TEAM,
  DEMO_USERS,
  INBOX_CLIENT_ID,
  subOf,
  TOKEN_LIFETIME,
  userClaims,
} from '../../lib/issuer/issuer-tokens.ts';

type Context = Parameters<Parameters<Provider['use']>[0]>[0];

const LOGOUT = '/logout';
const MONTH = 30 * 86_400; // Cognito's default for refresh tokens

/**
 * Keeps everything in memory, and answers 421 to other Hosts.
 *
 * @param origins - The web apps' origins.
 * @param inboxOrigin - The origin of the team's pages.
 */
export function createProvider(
  url: string,
  key: SigningKey,
  origins: readonly string[],
  inboxOrigin?: string,
): Provider {
  const { host, port } = new URL(url);
  const homes = origins.map((origin) => `${origin}/`);
  const redirectUris = homes.flatMap((home) => [home, `${home}callback`]);
  const inboxHome = `${inboxOrigin}/`;
  const publicClient = { token_endpoint_auth_method: 'none' } as const; // such clients must use PKCE
  const users = new Map<string, string>();

  const configuration: Configuration = {
    adapter: createMemoryAdapter(),
    jwks: { keys: [key] },
    clients: [
      {
        client_id: CLIENT_ID,
        ...publicClient,
        grant_types: ['authorization_code', 'refresh_token'],
        redirect_uris: redirectUris,
      },
      ...(inboxOrigin === undefined
        ? []
        : [
            {
              client_id: INBOX_CLIENT_ID,
              ...publicClient,
              redirect_uris: [`${inboxHome}callback`],
            },
          ]),
    ],
    clientAuthMethods: ['none'],
    clientBasedCORS: (_ctx, origin) => origins.includes(origin),
    responseTypes: ['code'],
    // As in Cognito, openid alone gives every claim.
    claims: {
      openid: [...Object.keys(userClaims({ sub: '', email: '' }, '')), 'auth_time'],
      email: ['email'],
      profile: ['cognito:username'],
    },
    findAccount(_ctx, sub, source) {
      const email = users.get(sub);
      if (email === undefined) return undefined;
      const signIn = source !== undefined && 'grantId' in source ? String(source.grantId) : sub;
      return { accountId: sub, claims: () => userClaims({ sub, email }, signIn) };
    },
    async loadExistingGrant({ oidc }) {
      const clientId = oidc.client?.clientId ?? '';
      const known = await oidc.provider.Grant.find(oidc.session?.grantIdFor(clientId) ?? '');
      if (known) return known;
      const grant = new oidc.provider.Grant({ accountId: oidc.account?.accountId, clientId });
      grant.addOIDCScope('openid email profile offline_access');
      await grant.save();
      return grant;
    },
    issueRefreshToken: () => true, // Cognito gives one without the scope offline_access
    cookies: {
      keys: [randomBytes(32).toString('base64url')],
      // All ports of a host share cookies.
      names: { session: `issuer_${port}`, interaction: `step_${port}`, resume: `resume_${port}` },
    },
    // The defaults would print notices.
    ttl: {
      AccessToken: TOKEN_LIFETIME,
      AuthorizationCode: 60,
      IdToken: TOKEN_LIFETIME,
      Interaction: TOKEN_LIFETIME,
      Grant: MONTH,
      RefreshToken: MONTH,
      Session: MONTH,
    },
    routes: {
      authorization: '/oauth2/authorize',
      token: '/oauth2/token',
      userinfo: '/oauth2/userInfo',
      jwks: '/.well-known/jwks.json',
    },
    discovery: { end_session_endpoint: url + LOGOUT },
    interactions: { url: (_ctx, { uid }) => `/sign-in/${uid}` },
    renderError: (ctx, { error, error_description: description = '' }) =>
      show(ctx, ctx.status, messagePage(error, description)),
    features: {
      devInteractions: { enabled: false },
      rpInitiatedLogout: { enabled: false }, // it would ask for a confirmation
    },
  };
  const provider = new Provider(url, configuration);

  const signIn = async (ctx: Context): Promise<void> => {
    const { params } = await provider.interactionDetails(ctx.req, ctx.res);
    const finish = async (result: InteractionResults) =>
      redirect(ctx, await provider.interactionResult(ctx.req, ctx.res, result));
    const form = new URLSearchParams(await text(ctx.req));
    if (form.has('cancel')) return finish({ error: 'access_denied' });
    const email = form.get('email')?.trim() ?? '';
    if (/^[^\s@<>"]+@[^\s@<>"]+$/.test(email)) {
      const sub = subOf(email);
      users.set(sub, email);
      return finish({ login: { accountId: sub } });
    }
    // Browsers send only addresses.
    const { origin, host: returnTo } = new URL(String(params['redirect_uri']));
    const accounts = origin === inboxOrigin ? DEMO_TEAM : DEMO_USERS;
    return show(ctx, 200, signInPage(returnTo, accounts), origin);
  };

  /**
   * Cognito's /logout, and OpenID Connect's end_session_endpoint without a confirmation.
   * https://docs.aws.amazon.com/cognito/latest/developerguide/logout-endpoint.html
   */
  const logout = async (ctx: Context): Promise<void> => {
    const { client_id, logout_uri, post_logout_redirect_uri } = ctx.query;
    const target = String(logout_uri ?? post_logout_redirect_uri);
    const isOfForm = client_id === CLIENT_ID && homes.includes(target);
    if (!isOfForm && (client_id !== INBOX_CLIENT_ID || target !== inboxHome)) {
      const reason = `client_id must be ${CLIENT_ID}, and logout_uri one of: ${homes.join(', ')}`;
      return show(ctx, 400, messagePage('Not signed out', reason));
    }
    const session = await provider.Session.get(ctx);
    await session.destroy(); // this also ends its refresh tokens
    ctx.cookies.set(provider.cookieName('session'), null, { overwrite: true });
    return redirect(ctx, target);
  };

  const settings = messagePage(
    'Local issuer',
    `${url}, in place of a user pool: any e-mail address signs in, without a password. Send the API the ID token, not the access token.`,
    `Client id, without a secret: ${CLIENT_ID}. Authorization code with PKCE.`,
    `Redirect addresses: ${redirectUris.join(' ')}. npm start -- --cors-origin ORIGIN adds those of another app.`,
    `Sign-out addresses: ${homes.join(' ')}`,
  );
  provider.use(async (ctx, next) => {
    // Prevents DNS rebinding.
    if (ctx.host !== host) return ctx.throw(421);
    if (ctx.path === '/') return show(ctx, 200, settings);
    if (ctx.path === LOGOUT) return logout(ctx);
    if (!ctx.path.startsWith('/sign-in/')) return next();
    return signIn(ctx).catch((error: unknown) => {
      if (!(error instanceof errors.SessionNotFound)) throw error;
      const advice = 'Go back to the application and sign in from there.';
      show(ctx, 400, messagePage('Sign-in expired', advice));
    });
  });
  // The response does not have the cause, which is a defect here.
  provider.on('server_error', (_ctx, error) => process.stderr.write(`issuer: ${error.stack}\n`));
  return provider;
}

/** @param formTarget - The app's origin, to which the form leads. */
function show(ctx: Context, status: number, html: string, formTarget = ''): void {
  ctx.set({
    'cache-control': 'no-store',
    'content-security-policy': contentSecurityPolicy(formTarget),
    'referrer-policy': 'no-referrer',
    'x-content-type-options': 'nosniff',
  });
  Object.assign(ctx, { status, type: 'html', body: html });
}

function redirect(ctx: Context, target: string): void {
  ctx.set('cache-control', 'no-store');
  ctx.status = 303;
  ctx.redirect(target);
}
