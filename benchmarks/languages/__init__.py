"""Values of fifteen languages: right ones without a finding, wrong ones found."""
