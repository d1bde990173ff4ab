import { QueryCache, QueryClient, QueryClientProvider } from '@tanstack/react-query';
import { RouterProvider } from '@tanstack/react-router';
import { StrictMode } from 'react';
import { createRoot } from 'react-dom/client';
import { ConsoleError } from './api.js';
import { sessionQuery } from './queries.js';
import { router } from './router.js';

const client: QueryClient = new QueryClient({
  queryCache: new QueryCache({
    // The session has ended: asking for it again shows the form to sign in.
    onError: (error, query) => {
      const isSession = query.queryKey[0] === sessionQuery.queryKey[0];
      if (error instanceof ConsoleError && error.status === 401 && !isSession)
        void client.invalidateQueries({ queryKey: sessionQuery.queryKey });
    },
  }),
  // A service on this machine or network answers, too, where the browser is offline.
  defaultOptions: {
    mutations: { networkMode: 'always' },
    queries: {
      networkMode: 'always',
      // Only what may go better the next time.
      retry: (failures, error) =>
        failures < 2 && error instanceof ConsoleError && (error.status === 0 || error.status >= 500),
    },
  },
});

const root = document.getElementById('root');
if (root === null) throw new Error('the page has no root');
createRoot(root).render(
  <StrictMode>
    <QueryClientProvider client={client}>
      <RouterProvider router={router} />
    </QueryClientProvider>
  </StrictMode>,
);
